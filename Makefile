# The main commands: `make run`, `make check` while working, and `make test`. They install what is missing and print it.
.PHONY: run check test audit build dist engine web extension lint-extension sbom web-deps check-rust build-tests test-rust test-web test-browser \
	test-programs audit-static audit-browser audit-docs audit-dependencies audit-limits release guard bench promises conformance schema format help

# With full RELRO rustc calls through a table of addresses (.got), which costs 2 MB on disk and 0.4 MB of memory. Asked for
# partial RELRO, it calls directly; `-z now` has the linker make it full all the same.
ifeq ($(shell uname),Linux)
direct_calls := -C relro-level=partial -C link-arg=-Wl,-z,now
endif

# For distribution: no local path is left in the binaries.
CRATES := $(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src
optimized := RUSTFLAGS="--remap-path-prefix=$(CRATES)=crates --remap-path-prefix=$(CURDIR)=gangway $(direct_calls)" \
	CFLAGS="-ffile-prefix-map=$(CRATES)=crates -ffile-prefix-map=$(CURDIR)=gangway" \
	CXXFLAGS="-ffile-prefix-map=$(CRATES)=crates -ffile-prefix-map=$(CURDIR)=gangway" cargo

# Clippy compiles what it checks, so that tests need no second pass over the code. CLIPPY_ARGS is how cargo-clippy tells it.
linted := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS="-Dwarnings__CLIPPY_HACKERY__" cargo

# Opens the chat in your browser, on your own data. The inference engine is built in the background.
run: web
	@scripts/setup.sh rust
	cargo build --bin gangway
	@scripts/run.sh

# The inner loop: format, lints, types and unit tests. Web checks run when something in web/ or apps/ changed.
check: check-rust target/web-checked
	cargo nextest run --workspace --lib --bins

target/web-checked: $(shell git ls-files web apps)
	@$(MAKE) --no-print-directory test-web
	@mkdir -p target && touch $@

# All tests of behavior: all Rust tests, web unit tests, behaviour in both browsers.
test: web
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target build-tests test-web test-programs
	@$(MAKE) --no-print-directory test-rust
	@$(MAKE) --no-print-directory test-browser
	@echo "All tests passed."

# Checks that do not depend on behavior: screenshots, accessibility, extension lint, docs, dependencies, startup, size and cost limits.
# Nothing else runs beside the browser tests, or while the limits are measured.
audit:
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target release audit-static
	@$(MAKE) --no-print-directory audit-browser
	@$(MAKE) --no-print-directory audit-limits
	@echo "All audits passed."

# One after another, beside the release build.
audit-static:
	@for audit in lint-extension audit-docs audit-dependencies; do $(MAKE) --no-print-directory $$audit || exit 1; done

# target/release/gangway with the pages in it, and target/release/gangway-engine.
build: web
	@scripts/setup.sh rust
	@scripts/setup.sh engine
	$(optimized) build --release --bin gangway --bin gangway-engine
	@ls -lh target/release/gangway target/release/gangway-engine

# The same with link-time optimization: slower to build, for benchmarks and distribution.
dist: web
	@scripts/setup.sh rust
	@scripts/setup.sh engine
	$(optimized) build --profile dist --bin gangway --bin gangway-engine
	scripts/third-party-notices.py target/dist/THIRD-PARTY-NOTICES.md
	@ls -lh target/dist/gangway target/dist/gangway-engine

# What the binaries and the pages contain, as CycloneDX in target/sbom.
sbom: web-deps
	@scripts/setup.sh rust
	@scripts/setup.sh cyclonedx
	@mkdir -p target/sbom
	target/tools/bin/cargo-cyclonedx cyclonedx --format json --spec-version 1.5 --describe crate --override-filename sbom.cdx
	@for crate in gangway gangway-engine; do mv "crates/$$crate/sbom.cdx.json" "target/sbom/$$crate.cdx.json"; done
	@rm -f crates/*/sbom.cdx.json
	cd web && ../target/tools/node_modules/.bin/cyclonedx-npm --omit dev --output-file ../target/sbom/web.cdx.json
	@ls -lh target/sbom

# The pages, built into web/ui/dist.
web: web-deps
	@scripts/setup.sh web-build

# The browser extension: a zip for Chromium and one for Firefox, with the same bytes each time.
extension: web-deps
	cd web && npm run --silent build --workspace extension

# Mozilla's linter, with warnings as errors, and a second build that must have the same bytes.
lint-extension: extension
	@scripts/setup.sh web-ext
	@mkdir -p target/extension && cp web/extension/dist/*.zip target/extension/
	@cd web && npm run --silent build --workspace extension >/dev/null
	@for zip in web/extension/dist/*.zip; do cmp "$$zip" "target/extension/$$(basename "$$zip")" || exit 1; done
	target/web-ext/node_modules/.bin/web-ext lint --warnings-as-errors --source-dir web/extension/dist/firefox

web-deps:
	@scripts/setup.sh node-packages

check-rust:
	@scripts/setup.sh compiler
	@scripts/setup.sh nextest
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

# All test programs, and the two binaries with the same features, so that nothing is compiled twice; checked by clippy.
build-tests: web
	@scripts/setup.sh compiler
	@scripts/setup.sh nextest
	cargo fmt --all -- --check
	$(linted) nextest run --workspace --no-run
	$(linted) build --workspace --bench spine

# The programs that tests use: installed before them, since two installations at once would wait for each other.
test-programs:
	@for program in faketime keyring tmux openai-python mcp-servers chromium firefox; do scripts/setup.sh $$program || exit 1; done

test-rust: build-tests test-programs
	@scripts/setup.sh weights
	$(linted) nextest run --workspace --no-fail-fast $(if $(CI),--profile ci) --filterset "$$(scripts/setup.sh reachable-tests)"

test-web: web-deps
	cd web && npm run --silent check && npm run --silent lint && npm test --silent

test-browser: build-tests extension test-programs
	cd web && GANGWAY_BIN="$(CURDIR)/target/debug/gangway" npm run --silent e2e

audit-browser: build-tests extension
	@scripts/setup.sh chromium
	cd web && GANGWAY_BIN="$(CURDIR)/target/debug/gangway" npm run --silent e2e:audit

audit-docs:
	@scripts/setup.sh compiler
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

audit-dependencies: web-deps
	scripts/audit-dependencies.py

# Startup time, idle memory and size of the release build, a check for leaked local paths, and the cost of hot paths against
# what is recorded. The driver is the one that `make test` builds.
audit-limits: release
	scripts/audit-limits.py target/release/gangway
	@$(MAKE) --no-print-directory guard

release: web
	@scripts/setup.sh rust
	$(optimized) build --release --bin gangway

# Fails when a hot path of the release build costs more than 1.5 times what crates/gangway/benches/guard.txt says.
# `make guard GUARD=--record` writes it anew.
guard:
	GANGWAY_BENCH_BINARY=$(CURDIR)/target/release/gangway $(linted) bench --profile dev --workspace --bench spine -- --guard $(GUARD)

# Benchmarks against a bare baseline in the same run. `make bench ROWS="appends proxy"` picks some; with
# `ARGS="--runs=3 --write"` each row is the middle of three runs, and docs/benchmarks.md is written.
bench: web
	@scripts/setup.sh compiler
	@scripts/setup.sh bench $(ROWS)
	$(optimized) build --profile dist --bin gangway-engine --example bare_llama
	$(optimized) bench --profile dist --package gangway --bench spine -- $(ROWS) $(ARGS)

# The durability and load tests at full scale; `make test` runs them at a small scale.
promises:
	@scripts/setup.sh compiler
	@scripts/setup.sh nextest
	GANGWAY_FULL=1 cargo nextest run --profile promises --release --package gangway --package gangway-core --package gangway-files --test-threads 1 promises power_cut

# The official MCP conformance suite, both protocol revisions; docs/conformance.md explains the score.
conformance:
	@scripts/setup.sh rust
	scripts/conformance.sh

# Writes the JSON Schema, the OpenAPI document and the TypeScript types from the Rust wire types.
schema:
	@scripts/setup.sh rust
	@scripts/setup.sh nextest
	GANGWAY_BLESS=1 cargo nextest run --package gangway schema sessions::fold security_document

format: web-deps
	cargo fmt --all
	cd web && npm run --silent format

help:
	@grep -B1 -E '^[a-z-]+:' Makefile | grep -vE '^--$$'
