#!/usr/bin/env bash
# Runs the official MCP conformance suite against Gangway and prints the score. Usage: conformance.sh [client|server]
# GANGWAY_BIN names a binary that is built already. What the suite found out about each scenario is left in
# target/conformance/results.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh conformance

here=$PWD/target/conformance
results=$here/results
revisions="2025-11-25 2026-07-28"
target=${CARGO_TARGET_DIR:-target}

suite() {
  "$here/node_modules/node/bin/node" "$here/node_modules/@modelcontextprotocol/conformance/dist/index.js" "$@"
}

# Runs one side at one revision, keeps what was said, and shows the summary. A scenario that fails and is not named in
# the file of that revision is an error, and so is one that is named and passes.
score() {
  local side=$1 revision=$2
  shift 2
  local out=$results/$side-$revision status=0
  rm -rf "$out"
  mkdir -p "$out"
  suite "$side" "$@" --requirements "$revision" --expected-failures "scripts/conformance-$revision.yml" \
    --output-dir "$out" >"$out/log.txt" 2>&1 || status=$?
  echo "== $side, revision $revision"
  sed -n '/=== .*SUMMARY/,$p' "$out/log.txt"
  return "$status"
}

client() {
  cargo build --quiet --package gangway-mcp --example conformance_client
  local failed=0
  for revision in $revisions; do
    score client "$revision" --command "$target/debug/examples/conformance_client" || failed=1
  done
  return "$failed"
}

# The door at /mcp/suite, and behind it a server that has what the suite asks for.
server() {
  local binary=${GANGWAY_BIN:-$target/debug/gangway} data failed=0 url=
  [ -n "${GANGWAY_BIN:-}" ] || cargo build --quiet --bin gangway
  data=$(mktemp -d)
  # The suite asks faster than any person.
  # The suite shows no key.
  cat >"$data/config.yaml" <<YAML
authentication: open-to-this-machine
limits: { requests_per_second: 100000, request_burst: 100000 }
mcp_servers:
  suite: { command: python3, args: ["$PWD/scripts/conformance_server.py"] }
YAML
  GANGWAY_DATA=$data "$binary" serve --listen 127.0.0.1:0 --log-level warn >"$data/said.txt" 2>&1 &
  local process=$!
  # shellcheck disable=SC2064 # as they are now
  trap "kill $process 2>/dev/null; wait $process 2>/dev/null; rm -rf '$data'" EXIT
  for _ in $(seq 100); do
    url=$(grep -o 'http://127.0.0.1:[0-9]*' "$data/said.txt" | head -1) || true
    [ -z "$url" ] || break
    sleep 0.1
  done
  [ -n "$url" ] || { cat "$data/said.txt" >&2; return 1; }
  for revision in $revisions; do
    score server "$revision" --url "$url/mcp/suite" || failed=1
  done
  return "$failed"
}

failed=0
case "${1:-both}" in
  client) client || failed=1 ;;
  server) server || failed=1 ;;
  both) client || failed=1; server || failed=1 ;;
  *) echo "usage: conformance.sh [client|server]" >&2; exit 2 ;;
esac
exit "$failed"
