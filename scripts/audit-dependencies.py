#!/usr/bin/env python3
"""Checks that every dependency comes from its registry under a permissive license, and asks for known vulnerabilities."""

import json
import re
import shutil
import subprocess
import sys

PERMISSIVE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "BlueOak-1.0.0", "CC0-1.0",
    "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Python-2.0", "Unicode-3.0", "Unlicense", "Zlib",
    "CC-BY-4.0",
}  # fmt: skip


def permitted(expression):
    """Whether an SPDX expression can be satisfied by permissive licenses alone."""
    tokens = re.findall(r"\(|\)|AND|OR|[^()\s]+(?: WITH [^()\s]+)?", expression.replace("/", " OR "))
    python = [
        {"AND": "and", "OR": "or", "(": "(", ")": ")"}.get(token, str(token in PERMISSIVE)) for token in tokens
    ]
    return bool(tokens) and eval(" ".join(python))  # Only booleans, operators and parentheses are left.


def rust():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    members = set(metadata["workspace_members"])
    for package in metadata["packages"]:
        if package["id"] in members:
            continue
        name = f"{package['name']} {package['version']}"
        if not (package["source"] or "").startswith("registry+"):
            yield f"{name} (crate) does not come from a registry: {package['source']}"
        if not permitted(package["license"] or ""):
            yield f"{name} (crate) has the license {package['license']}"


def npm():
    with open("web/package-lock.json") as file:
        packages = json.load(file)["packages"]
    for path, package in packages.items():
        if not path.startswith("node_modules/") or package.get("link"):
            continue
        if "integrity" not in package:
            yield f"{path} (npm) has no integrity hash"
        if not permitted(package.get("license") or ""):
            yield f"{path} (npm) has the license {package.get('license')}"


def advisories():
    """Known vulnerabilities, where a database can be reached."""
    if shutil.which("cargo-deny"):
        checked = subprocess.run(["cargo", "deny", "check", "licenses", "bans", "sources"], capture_output=True, text=True)
        if checked.returncode:
            yield checked.stderr
        advised = subprocess.run(["cargo", "deny", "check", "advisories"], capture_output=True, text=True)
        if "failed to fetch advisory database" in advised.stderr:
            print("WARNING: the RustSec advisory database is unreachable: crates were not checked for vulnerabilities")
        elif advised.returncode:
            yield advised.stderr
    else:
        print(
            "WARNING: cargo-deny is not installed (`cargo install cargo-deny --locked`): crates were not checked for vulnerabilities"
        )
    audit = subprocess.run(
        ["npm", "audit", "--json", "--omit=dev"], cwd="web", capture_output=True, text=True
    )
    try:
        found = json.loads(audit.stdout)
        total = found["metadata"]["vulnerabilities"]
    except (ValueError, KeyError):
        print("WARNING: the npm registry offers no audit: npm packages were not checked for vulnerabilities")
        return
    if total["high"] or total["critical"]:
        yield f"npm audit: {total['high']} high and {total['critical']} critical vulnerabilities"


problems = [*rust(), *npm(), *advisories()]
for problem in problems:
    print(problem, file=sys.stderr)
print(f"dependencies: {len(problems)} problems")
sys.exit(bool(problems))
