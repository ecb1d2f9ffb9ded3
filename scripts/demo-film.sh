#!/usr/bin/env bash
# Makes docs/images/demo.png, the animated picture in the README, from screenshots of the browser test of the demo.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=target/tools/film
[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/python" -c 'import PIL' 2>/dev/null || "$tools/bin/pip" install --quiet 'pillow==13.0.0'
rm -rf web/e2e/results/demo-film
(cd web && npx --workspace e2e playwright test tests/demo.spec.ts --project chromium --grep 'every kind of agent')
"$tools/bin/python" scripts/demo-film.py web/e2e/results/demo-film docs/images/demo.png
