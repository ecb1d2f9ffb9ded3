#!/usr/bin/env bash
# Measures what docs/development.md promises, each in a fresh clone of HEAD. Usage: time-from-clone.sh [run] [test] [ci]
# Downloaded packages (crates, npm, apt) are reused where the machine has them; compiled code is not.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- run test ci

say() { printf '%-52s %s\n' "$1" "$2"; }
clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

fresh() {
  rm -rf "$work/clone"
  git clone --quiet "$root" "$work/clone"
  # Readings that tests compare with lie beside the repository.
  [ ! -d "$root/../shared" ] || ln -sfn "$root/../shared" "$work/shared"
  cd "$work/clone"
}

timed() {
  local what=$1 begin=$SECONDS
  shift
  if "$@" >"$work/log" 2>&1; then say "$what" "$(clock $((SECONDS - begin)))"; else
    tail -50 "$work/log"
    say "$what" "FAILED after $(clock $((SECONDS - begin)))"
    exit 1
  fi
}

# `make run` until the page answers; the engine goes on being built in the background.
page() {
  mkdir -p "$work/data"
  echo 'listen: 127.0.0.1:0' >"$work/data/config.yaml"
  GANGWAY_DATA="$work/data" BROWSER=true setsid make run >"$work/run.log" 2>&1 &
  local make=$! url=
  while [ -z "$url" ]; do
    kill -0 "$make" || { cat "$work/run.log"; return 1; }
    sleep 0.2
    url=$(grep -oE 'http://127.0.0.1:[0-9]+' "$work/run.log" | head -1 || true)
  done
  curl --silent --fail --output /dev/null "$url/"
  page_server=$make
}

engine() {
  while [ ! -x target/debug/gangway-engine ] || [ -e target/debug/gangway-engine.building ]; do
    kill -0 "$page_server"
    sleep 1
  done
}

for what; do
  fresh
  case "$what" in
    run)
      timed "clean clone to page (make run)" page
      timed "  then until the engine is built beside it" engine
      kill -- "-$page_server"
      ;;
    test)
      timed "make test from a clean clone" make test
      timed "make test when already built" make test
      echo "// A change of one line." >>crates/gangway-embedded/src/outbox.rs
      timed "make check after a one-line change in a leaf crate" make check
      ;;
    ci) timed ".ci/run from a clean clone" bash .ci/run ;;
    *) echo "unknown: $what" >&2 && exit 2 ;;
  esac
done
