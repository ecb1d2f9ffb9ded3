#!/usr/bin/env bash
# Installs one dependency of a build or a test, unless it is already there. Usage: setup.sh rust|engine|compiler|nextest|tmux|keyring|weights|openai-python|mcp-servers|litellm|portkey|socket-io|nats|node-llama|mcp-gateways|nginx|conformance|bench|node-packages|web-build|web-ext|chromium|firefox|reachable-tests
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    say "this needs root: $*" >&2
    exit 1
  fi
}

apt_install() {
  if ! command -v apt-get >/dev/null; then
    say "please install manually: $* (this system has no apt-get)" >&2
    exit 1
  fi
  say "installing $* with apt-get"
  # One at a time: apt-get fails where another one runs.
  mkdir -p target
  (
    if command -v flock >/dev/null; then flock 9; fi
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  ) 9>target/apt-get.lock
}

rust() {
  command -v cargo >/dev/null || { say "please install Rust 1.90 or later first: https://rustup.rs" >&2; exit 1; }
  # SQLite is C, built along with the rest.
  command -v cc >/dev/null || apt_install gcc libc6-dev
}

compiler() {
  rust
  engine
  cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 && return
  command -v rustup >/dev/null || { say "please install rustfmt and clippy for your Rust first" >&2; exit 1; }
  say "installing rustfmt and clippy"
  rustup component add rustfmt clippy
}

engine() {
  # The engine that runs models here is C++, built with cmake, and libclang reads its headers.
  local missing=()
  command -v c++ >/dev/null || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v clang >/dev/null || missing+=(clang)
  # Where there is no dpkg, libclang comes with clang.
  if command -v dpkg >/dev/null && ! dpkg -s libclang-dev >/dev/null 2>&1; then missing+=(libclang-dev); fi
  [ "${#missing[@]}" = 0 ] || apt_install "${missing[@]}"
}

nextest() {
  rust
  cargo nextest --version >/dev/null 2>&1 && return
  say "installing cargo-nextest, the test runner (a few minutes, once)"
  cargo install cargo-nextest --locked --quiet
}

tmux() {
  # Remote agents run in it. A function of this name hides the program from `command -v`.
  type -P tmux >/dev/null && return
  apt_install tmux
}

faketime() {
  # A test runs a server whose clock stands before 1970.
  [ "$(uname)" = Linux ] || return 0
  compgen -G "/usr/lib/*/faketime/libfaketimeMT.so.1" >/dev/null && return
  apt_install libfaketime
}

keyring() {
  # Only on Linux does a test bring its own keyring.
  [ "$(uname)" = Linux ] || return 0
  command -v dbus-run-session >/dev/null && command -v gnome-keyring-daemon >/dev/null && return
  apt_install dbus gnome-keyring
}

weights() {
  local model=smollm2-135m-instruct.gguf
  [ -s "target/test-weights/$model" ] && return
  say "downloading a small model for the tests (93 MB, once)"
  mkdir -p target/test-weights
  # By the program that the tests use, so that it is not compiled with other features just for this.
  [ -x target/debug/gangway ] || cargo build --quiet --bin gangway
  target/debug/gangway models pull --data target/test-weights-data
  ln -sf "../test-weights-data/models/$model" "target/test-weights/$model"
}

reachable_tests() {
  # A nextest filter that leaves out the tests whose registry cannot be reached, and says so.
  local filter='all()'
  if ! npm view is-number version >/dev/null 2>&1; then
    say "THE NPM REGISTRY IS UNREACHABLE: skipping the tests that install from npm" >&2
    filter+=' - test(/^catalog::installing::.*npm/) - test(/^apps::vendoring::.*npm_registry/)'
  fi
  if ! python3 -m pip index versions six >/dev/null 2>&1; then
    say "PYPI IS UNREACHABLE: skipping the tests that install from PyPI" >&2
    filter+=' - test(/^catalog::installing::.*pypi/)'
  fi
  echo "$filter"
}

openai_python() {
  local folder=target/openai-python version=3.49.0
  # pip writes the note of a version last.
  [ -x "$folder/bin/python" ] && compgen -G "$folder/lib/python3*/site-packages/openai-$version.dist-info/RECORD" >/dev/null && return
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    say "please install Python 3.10 or later first (here: $(python3 --version 2>/dev/null || echo none))" >&2
    exit 1
  fi
  python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
  say "downloading OpenAI's Python client for the tests (20 MB, once)"
  python3 -m venv --clear "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "openai==$version"
}

node_20() {
  if ! command -v npm >/dev/null || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    say "please install Node 20 or later first: https://nodejs.org (here: $(node --version 2>/dev/null || echo none))" >&2
    exit 1
  fi
}

mcp_servers() {
  # Other people's servers, by exact version: what the tests say about them must not change under us.
  local npm=2026.8.31 pypi=2026.10.19 uv=0.13.7 here=target/mcp-servers
  [ "$(cat "$here/installed" 2>/dev/null)" = "$npm $pypi $uv" ] && return
  node_20
  command -v python3 >/dev/null || apt_install python3 python3-venv
  python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
  say "installing MCP servers for the tests (a minute, once)"
  mkdir -p "$here"
  echo '{"private": true}' >"$here/package.json"
  # Into the cache from which tests install them again.
  export npm_config_cache="$PWD/target/npm-cache" UV_CACHE_DIR="$PWD/target/uv-cache"
  (cd "$here" && npm install --no-audit --no-fund --loglevel=error --save-exact \
    "@modelcontextprotocol/server-everything@$npm" "@modelcontextprotocol/server-filesystem@$npm" \
    "@modelcontextprotocol/server-memory@$npm")
  python3 -m venv "$here/python"
  "$here/python/bin/pip" install --quiet --disable-pip-version-check "mcp-server-time==$pypi" "mcp-server-git==$pypi"
  # What the installer fetches Python packages with.
  python3 -m venv "$here/uv"
  "$here/uv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv"
  echo "$npm $pypi $uv" >"$here/installed"
}

node_packages() {
  node_20
  # npm writes this file last, so it is newer than the lock file exactly when the install is complete.
  [ web/node_modules/.package-lock.json -nt web/package-lock.json ] && return
  say "installing the npm packages"
  (cd web && npm ci --no-audit --no-fund --loglevel=error)
  touch web/node_modules/.package-lock.json
}

web_build() {
  local built=web/ui/dist/index.html
  if [ -f "$built" ] && [ -f web/ui/dist/applet.js ] && [ -z "$(find web/ui web/kit web/client web/package-lock.json -newer "$built" -type f \
    -not -path '*/node_modules/*' -not -path '*/dist/*' -print -quit)" ]; then
    return
  fi
  say "building the pages"
  (cd web && npm run --silent build)
}

cyclonedx() {
  # What writes the bills of materials; built from source once (a few minutes).
  local rust=0.5.9 npm=6.0.1 here=target/tools
  [ "$(cat "$here/installed" 2>/dev/null)" = "$rust $npm" ] && return
  node_20
  say "installing cargo-cyclonedx and cyclonedx-npm into $here"
  cargo install cargo-cyclonedx --version "$rust" --locked --quiet --root "$here"
  echo '{"private": true}' >"$here/package.json"
  (cd "$here" && npm install --no-audit --no-fund --loglevel=error --save-exact "@cyclonedx/cyclonedx-npm@$npm")
  echo "$rust $npm" >"$here/installed"
}

web_ext() {
  # Mozilla's linter for extensions, by exact version; too large for everyone who builds the pages.
  local version=10.7.0 here=target/web-ext
  [ "$(cat "$here/installed" 2>/dev/null)" = "$version" ] && return
  node_20
  say "installing web-ext into $here, to lint the extension (half a minute, once)"
  mkdir -p "$here"
  echo '{"private": true}' >"$here/package.json"
  (cd "$here" && npm install --no-audit --no-fund --loglevel=error --save-exact "web-ext@$version")
  echo "$version" >"$here/installed"
}

chromium() {
  [ -x /usr/bin/chromium ] || apt_install chromium fonts-liberation
  # The same engine without a browser around it takes less CPU time. Where there is no such package, tests use the browser.
  [ -x /usr/bin/chromium-headless-shell ] || (apt_install chromium-headless-shell) || say "chromium-headless-shell is not available: tests take longer"
}

firefox() {
  # Not every system has a Firefox to install: the tests say what they pass over.
  [ -x /usr/bin/firefox-esr ] || [ -x /usr/bin/firefox ] || [ -x "${FIREFOX:-}" ] && return
  (apt_install firefox-esr) || say "FIREFOX COULD NOT BE INSTALLED: skipping its tests" >&2
}

litellm() {
  # For `make bench`: comparison of the OpenAI API.
  [ -x target/litellm/bin/litellm ] && return
  say "installing LiteLLM into target/litellm, for comparison (a minute, once)"
  command -v python3 >/dev/null && python3 -c 'import ensurepip' 2>/dev/null || apt_install python3 python3-venv
  python3 -m venv --clear target/litellm
  target/litellm/bin/pip install --quiet --disable-pip-version-check 'litellm[proxy]'
}

portkey() {
  # For `make bench`: comparison of the OpenAI API. With a newer @hono/node-server it fails on every streamed answer.
  local version=1.15.2 hono=1.11.1 here=target/portkey
  [ "$(cat "$here/installed" 2>/dev/null)" = "$version $hono" ] && return
  node_20
  say "installing Portkey's gateway into $here, for comparison (half a minute, once)"
  mkdir -p "$here"
  echo "{\"private\": true, \"overrides\": {\"@hono/node-server\": \"$hono\"}}" >"$here/package.json"
  (cd "$here" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error --save-exact "@portkey-ai/gateway@$version")
  echo "$version $hono" >"$here/installed"
}

socket_io() {
  # For `make bench`: comparison of sockets; ws comes with the web packages.
  local version=4.8.4 here=target/socket-io
  [ "$(cat "$here/installed" 2>/dev/null)" = "$version" ] && return
  node_20
  say "installing socket.io into $here, for comparison (once)"
  mkdir -p "$here"
  echo '{"private": true}' >"$here/package.json"
  (cd "$here" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error --save-exact "socket.io@$version")
  echo "$version" >"$here/installed"
}

nats() {
  # For `make bench`: comparison of the relay.
  type -P nats-server >/dev/null || apt_install nats-server
}

node_llama() {
  # llama.cpp as others ship it; what `make bench` compares the engine with, besides its own API.
  local folder=target/node-llama
  [ -f "$folder/node_modules/.package-lock.json" ] && return
  [ "$(uname -sm)" = "Linux x86_64" ] || { say "llama.cpp for Node is only compared with on Linux x86_64" >&2; return 1; }
  say "installing llama.cpp for Node into $folder, for comparison (half a minute, once)"
  mkdir -p "$folder"
  npm install --prefix "$folder" --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error \
    node-llama-cpp @node-llama-cpp/linux-x64 >/dev/null
}

mcp_gateways() {
  # What `make bench` compares calls of tools with, by exact version.
  local npm=4.0.0 pypi=0.13.0 here=target/mcp-gateways
  [ "$(cat "$here/installed" 2>/dev/null)" = "$npm $pypi" ] && return
  node_20
  command -v python3 >/dev/null && python3 -c 'import ensurepip' 2>/dev/null || apt_install python3 python3-venv
  say "installing mcp-proxy and supergateway into $here, for comparison (a minute, once)"
  mkdir -p "$here"
  echo '{"private": true}' >"$here/package.json"
  (cd "$here" && npm install --no-audit --no-fund --loglevel=error --save-exact "supergateway@$npm")
  python3 -m venv --clear "$here/python"
  "$here/python/bin/pip" install --quiet --disable-pip-version-check "mcp-proxy==$pypi"
  echo "$npm $pypi" >"$here/installed"
}

nginx() {
  # What `make bench` compares the pages of apps with. It runs on a port and with settings of the bench's own.
  [ -x /usr/sbin/nginx ] || type -P nginx >/dev/null || apt_install nginx-light
}

conformance() {
  # The official suite of MCP, by exact version, with the Node it wants.
  local suite=0.2.0-alpha.12 node=22.23.3 here=target/conformance
  [ "$(cat "$here/installed" 2>/dev/null)" = "$suite $node" ] && return
  node_20
  say "installing the conformance suite of MCP into $here (a minute, once)"
  mkdir -p "$here"
  echo '{"private": true}' >"$here/package.json"
  (cd "$here" && npm install --no-audit --no-fund --loglevel=error --save-exact \
    "@modelcontextprotocol/conformance@$suite" "node@$node")
  echo "$suite $node" >"$here/installed"
}

bench() {
  # Who is not there is left out of the table, which says so.
  local row
  for row in "${@:-all}"; do
    case "$row" in all | proxy)
      scripts/setup.sh litellm || say "skipping the comparison with LiteLLM"
      scripts/setup.sh portkey || say "skipping the comparison with Portkey"
      ;;
    esac
    case "$row" in all | fanout) { scripts/setup.sh node-packages && scripts/setup.sh socket-io; } || say "skipping the comparison with sockets in Node" ;; esac
    case "$row" in all | relay) scripts/setup.sh nats || say "skipping the comparison with NATS" ;; esac
    case "$row" in all | apps) scripts/setup.sh nginx || say "skipping the comparison with nginx" ;; esac
    case "$row" in all | pages) command -v curl >/dev/null || apt_install curl ;; esac
    case "$row" in all | apps | pages | relay) { scripts/setup.sh node-packages && scripts/setup.sh chromium; } || say "skipping the measurements in a browser and the relay in Node" ;; esac
    case "$row" in all | extension) { scripts/setup.sh chromium && scripts/setup.sh firefox && make --no-print-directory extension; } || say "skipping the measurements with the extension" ;; esac
    case "$row" in all | mcp) scripts/setup.sh mcp-gateways || say "skipping the comparison with mcp-proxy and supergateway" ;; esac
    case "$row" in all | agents) scripts/setup.sh tmux || say "skipping the measurements of remote agents" ;; esac
    case "$row" in all | embedded) weights && { scripts/setup.sh node-llama || say "skipping the comparison with llama.cpp for Node"; } ;; esac
  done
}

case "${1:-}" in
  rust) rust ;;
  engine) engine ;;
  compiler) compiler ;;
  nextest) nextest ;;
  tmux) tmux ;;
  faketime) faketime ;;
  keyring) keyring ;;
  cyclonedx) cyclonedx ;;
  weights) weights ;;
  openai-python) openai_python ;;
  mcp-servers) mcp_servers ;;
  node-packages) node_packages ;;
  web-build) web_build ;;
  web-ext) web_ext ;;
  chromium) chromium ;;
  firefox) firefox ;;
  litellm) litellm ;;
  portkey) portkey ;;
  socket-io) socket_io ;;
  nats) nats ;;
  node-llama) node_llama ;;
  mcp-gateways) mcp_gateways ;;
  nginx) nginx ;;
  conformance) conformance ;;
  reachable-tests) reachable_tests ;;
  bench) bench "${@:2}" ;;
  *) say "unknown argument: ${1:-none}; see the first lines of this file" >&2; exit 2 ;;
esac
