# Two commands matter: `make run` and `make test`. Both install what they miss, and say so.
.PHONY: run test build web extension lint-extension web-deps bench promises conformance schema format check-rust test-rust test-web test-browser help

# The chat, in your browser, on your own data.
run: web
	@scripts/setup.sh compiler
	cargo run --bin gangway -- serve --open

# Everything: format, lints, docs, Rust tests, web checks and tests, browser tests.
test: check-rust web test-rust test-web test-browser
	@echo "All of it passed."

# target/release/gangway, with the pages in it.
build: web
	@scripts/setup.sh compiler
	cargo build --release --bin gangway
	@ls -lh target/release/gangway

# The pages, built into web/ui/dist.
web: web-deps
	@scripts/setup.sh web-build

# The browser extension: a zip for Chromium and one for Firefox, with the same bytes each time.
extension: web-deps
	cd web && npm run --silent build --workspace extension

# What Mozilla's linter says about it, where a warning is an error, and whether a second build has the same bytes.
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
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

test-rust:
	@scripts/setup.sh nextest
	@scripts/setup.sh keyring
	@scripts/setup.sh tmux
	@scripts/setup.sh weights
	@scripts/setup.sh openai-python
	@scripts/setup.sh mcp-servers
	cargo nextest run --workspace --no-fail-fast

test-web: web-deps lint-extension
	cd web && npm run --silent check && npm run --silent lint && npm test --silent

test-browser: web extension
	@scripts/setup.sh chromium
	@scripts/setup.sh firefox
	@scripts/setup.sh tmux
	@scripts/setup.sh mcp-servers
	cargo build --quiet --bin gangway
	cd web && GANGWAY_BIN="$(CURDIR)/target/debug/gangway" npm run --silent e2e

# Figures against a bare baseline in the same run. `make bench ROWS="appends proxy"` picks some.
bench: web
	@scripts/setup.sh compiler
	@scripts/setup.sh bench $(ROWS)
	cargo bench --package gangway --bench spine -- $(ROWS)

# The promises at full scale; `make test` runs them small.
promises:
	@scripts/setup.sh nextest
	GANGWAY_FULL=1 cargo nextest run --profile promises --release --package gangway --test-threads 1 promises

# The official conformance suite of MCP, both revisions of the protocol; docs/conformance.md explains the score.
conformance:
	@scripts/setup.sh compiler
	scripts/conformance.sh

# Writes the JSON Schema, the OpenAPI document and the TypeScript types from the Rust wire types.
schema:
	@scripts/setup.sh nextest
	GANGWAY_BLESS=1 cargo nextest run --package gangway schema sessions::fold

format: web-deps
	cargo fmt --all
	cd web && npm run --silent format

help:
	@grep -B1 -E '^[a-z-]+:' Makefile | grep -vE '^--$$'
