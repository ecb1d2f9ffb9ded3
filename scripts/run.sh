#!/usr/bin/env bash
# Opens the chat, and builds the engine for models on this machine beside it. The server sees by the marker that it is being built.
set -euo pipefail
cd "$(dirname "$0")/.."

engine=target/debug/gangway-engine
marker=$engine.building
log=target/engine-build.log

build_engine() {
  trap 'rm -f "$marker"' EXIT
  if [ ! -e "$engine" ]; then
    echo "$BASHPID" >"$marker"
    echo "engine: building it in the background for models on this machine (a few minutes, once); log in $log"
  fi
  if { scripts/setup.sh engine && nice cargo build --package gangway-engine; } >"$log" 2>&1; then
    if [ -e "$marker" ]; then echo "engine: ready"; fi
  else
    echo "engine: it could not be built, so models on this machine cannot run; see $log" >&2
  fi
}

build_engine &
exec target/debug/gangway serve --open "$@"
