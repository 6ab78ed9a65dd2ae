"""Write docs/licences.md: the licence of every package that the locks install, from what is installed here.

usage: python tools/licences.py [--check]

With --check nothing is written; the exit code is 1 if a locked package states a licence that is not accepted. Packages
that state none are listed as such.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
DOCUMENT = Path("docs", "licences.md")
LOCKS = ("requirements.lock", "requirements-ros.lock")  # packages that run on a robot; not the tools of developers
# Parts of the names of licences that packages used by an Apache-2.0 program may have.
ACCEPTED = (
    "apache", "mit", "bsd", "isc", "psf", "python software foundation", "mpl", "mozilla", "zlib", "unlicense", "lgpl",
    "lesser general public", "public domain", "hpnd", "cmu", "boost", "bsl-1.0", "0bsd", "cc0", "any-osi",
)  # fmt: skip
NOT_STATED = "not stated in its metadata"
# Licences that packages state elsewhere, and that were looked up there.
STATED_ELSEWHERE = {"icub-models": "CC-BY-SA-4.0 (data)", "setuptools": "MIT"}
HEAD = """# Licences of what is installed

What `requirements.lock` and `requirements-ros.lock` install, by `tools/licences.py`, from the metadata of each package.
`make lint` checks that none has a licence beyond the accepted ones.

| package | version | licence |
|---|---|---|
"""


def locked() -> set[str]:
    """Return the names of the packages that the locks install."""
    found = set()
    for lock in LOCKS:
        found |= {
            name.lower() for name in re.findall(r"^([A-Za-z0-9_.-]+)==", (CHECKOUT / lock).read_text(), re.MULTILINE)
        }
    return {normal(name) for name in found}


def normal(name: str) -> str:
    """Return a name as package indices write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def stated(name: str, licence: str) -> str:
    """Return the licence of a package, from its ROS package.xml where its Python metadata state none."""
    if name in STATED_ELSEWHERE:
        return STATED_ELSEWHERE[name]
    short = " ".join(licence.split())[:120].replace("|", "/")
    if short and short != "UNKNOWN":
        return short
    ros = Path(sys.prefix, "share", re.sub(r"^ros-(kilted-)?", "", name).replace("-", "_"), "package.xml")
    if ros.is_file():
        found = re.findall(r"<license[^>]*>([^<]+)<", ros.read_text())
        if found:
            return ", ".join(found)
    return NOT_STATED


def main() -> int:
    """Write or check; return the exit code."""
    line = [sys.executable, "-m", "piplicenses", "--format=json", "--from=mixed", "--with-system"]
    packages = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    names, rows, refused = locked(), [], []
    for package in sorted(packages, key=lambda one: normal(one["Name"])):
        name = normal(package["Name"])
        if name not in names:
            continue
        licence = stated(name, package["License"])
        rows.append(f"| {name} | {package['Version']} | {licence} |")
        known = name in STATED_ELSEWHERE or licence == NOT_STATED
        if not known and not any(part in licence.lower() for part in ACCEPTED):
            refused.append(f"{name}: {licence}")
    if "--check" not in sys.argv:
        (CHECKOUT / DOCUMENT).write_text(HEAD + "\n".join(rows) + "\n")
        print(DOCUMENT)
    for text in refused:
        print(f"licence not accepted: {text}", file=sys.stderr)
    unknown = sum(NOT_STATED in row for row in rows)
    print(f"licences: {len(rows)} packages, {unknown} state none, {len(refused)} not accepted")
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main())
