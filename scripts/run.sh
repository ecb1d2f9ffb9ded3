#!/usr/bin/env bash
# Opens the chat and builds the inference engine in the background. The marker file tells the server that it is being built.
set -euo pipefail
cd "$(dirname "$0")/.."

engine=target/debug/gangway-engine
marker=$engine.building
log=target/engine-build.log

build_engine() {
  trap 'rm -f "$marker"' EXIT
  if [ ! -e "$engine" ]; then
    echo "$BASHPID" >"$marker"
    echo "engine: building the inference engine for local models in the background (a few minutes, once); log: $log"
  fi
  if { scripts/setup.sh engine && nice cargo build --package gangway-engine; } >"$log" 2>&1; then
    if [ -e "$marker" ]; then echo "engine: ready"; fi
  else
    echo "engine: the build failed, so local models are not available; see $log" >&2
  fi
}

build_engine &
exec target/debug/gangway serve --open "$@"
