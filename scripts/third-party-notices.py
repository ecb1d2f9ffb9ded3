#!/usr/bin/env python3
"""Writes the licenses of everything that the binaries and their pages contain: third-party-notices.py FILE"""

import json
import pathlib
import re
import subprocess
import sys

NAMES = re.compile(r"^(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)


def crates():
    """The crates that are linked into the two programs, with what they bundle (SQLite, llama.cpp)."""
    tree = ["cargo", "tree", "--locked", "--package", "gangway", "--package", "gangway-engine"]
    tree += ["--edges", "normal", "--prefix", "none", "--format", "{p}"]
    lines = subprocess.run(tree, check=True, capture_output=True, text=True).stdout.splitlines()
    linked = {tuple(line.split()[:2]) for line in lines if line}
    metadata = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(metadata, check=True, capture_output=True, text=True).stdout)
    members = set(metadata["workspace_members"])
    for package in metadata["packages"]:
        if package["id"] in members or (package["name"], f"v{package['version']}") not in linked:
            continue
        folder = pathlib.Path(package["manifest_path"]).parent
        yield package["name"], package["version"], package["license"], texts(folder, package["name"].endswith("-sys"))


def npm():
    """The npm packages that are bundled into the pages."""
    lock = json.loads(pathlib.Path("web/package-lock.json").read_text())["packages"]
    for path, package in sorted(lock.items()):
        if path.startswith("node_modules/") and not package.get("link") and not package.get("dev"):
            folder = pathlib.Path("web") / path
            yield path.removeprefix("node_modules/"), package["version"], package.get("license"), texts(folder, False)


def texts(folder, deep):
    files = folder.rglob("*") if deep else folder.glob("*")
    found = [file for file in files if NAMES.match(file.name) and file.is_file() and file.stat().st_size < 200_000]
    found = [file.read_text(errors="replace").strip() for file in sorted(found) if file.suffix not in (".rs", ".js", ".ts")]
    return list(dict.fromkeys(found))


def main(file):
    packages = sorted({(name, version): (license, text) for name, version, license, text in [*crates(), *npm()]}.items())
    lines = ["# Third-party notices", "", "Gangway contains the following packages, under these licenses.", ""]
    users = {}
    for (name, version), (license, found) in packages:
        lines.append(f"- {name} {version}: {license or 'see below'}")
        for text in found:
            users.setdefault(text, []).append(f"{name} {version}")
    for text, names in users.items():
        lines += ["", "---", "", ", ".join(names) + ":", "", *(f"    {line}".rstrip() for line in text.splitlines())]
    missing = [f"{name} {version}" for (name, version), (license, found) in packages if not license and not found]
    if missing:
        sys.exit("without a license: " + ", ".join(missing))
    target = pathlib.Path(file)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n")
    print(f"{target}: {len(packages)} packages, {len(users)} license texts")


main(sys.argv[1])
