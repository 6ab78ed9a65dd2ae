"""Copies of the working tree, in which mutants run; the checkout itself is never changed."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = "icub_learning"
PYTHON = [sys.executable]
MARK = "MUTANTS_COPY"  # environment variable of all processes that belong to a copy, however they were started
# What a suite consists of: tests, the settings of pytest, and which tests `make check` runs.
SUITE = ("test/", "pyproject.toml", "tools/check")

# setup.py with some of its extensions alone: its `depends` would compile them all after a change of a header.
BUILD = f"""
import setuptools, sys
wanted, setup = sys.argv.pop(1).split(","), setuptools.setup
setuptools.setup = lambda **table: setup(
    **{{**table, "ext_modules": [one for one in table["ext_modules"] if one.name in wanted]}}
)
sys.argv[0] = "setup.py"
exec(compile(open("setup.py").read(), "setup.py", "exec"), {{"__name__": "{PACKAGE}_setup"}})
"""


def files_of(checkout: Path) -> list[str]:
    """Return the paths, relative to a checkout, of all files that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=checkout, capture_output=True, check=True, text=True).stdout.split("\0")
    return sorted({name for name in names if name and (checkout / name).is_file()})


def is_of_suite(name: str) -> bool:
    """Return whether a path belongs to the tests rather than to what they test."""
    return name.startswith(SUITE)


class Copy:
    """A copy of the checkout with the tests of `suite`, another checkout or the same.

    Its environment makes all processes import the package from the copy, wherever they are started.
    """

    def __init__(self, folder: Path, suite: Path = CHECKOUT) -> None:
        self.root = folder
        self.end_processes()  # left by a run that was killed
        shutil.rmtree(folder, ignore_errors=True)
        compiled = [str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / PACKAGE).rglob("*.so")]
        code = [(CHECKOUT, name) for name in [*files_of(CHECKOUT), *compiled] if not is_of_suite(name)]
        for source, name in code + [(suite, name) for name in files_of(suite) if is_of_suite(name)]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, folder / name)
        for command in (["git", "init", "--quiet"], ["git", "add", "--all"]):  # tests ask git what it tracks
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        search_path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {
            # Without the variables of coverage, pytest and this program, which are meant for this process.
            **{
                name: text
                for name, text in os.environ.items()
                if not name.startswith(("COVERAGE_", "PYTEST_", "MUTANTS_"))
            },
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
            "PYTHONPATH": os.pathsep.join(search_path),  # comes before the editable install
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "out" / "hypothesis"),
            MARK: str(folder),
        }
        if not self.environment.get("ICUB_LEARNING_DATA"):
            self.environment["ICUB_LEARNING_DATA"] = str(CHECKOUT.parent / "shared" / "data")
        self.check_import()

    def check_import(self) -> None:
        """Refuse a copy that child processes would not import."""
        command = [*PYTHON, "-c", f"import {PACKAGE}; print({PACKAGE}.__file__)"]
        found = subprocess.check_output(command, cwd="/", env=self.environment, text=True).strip()
        if Path(found) != self.root / PACKAGE / "__init__.py":
            raise SystemExit(f"{PACKAGE} is imported from {found}, not from the copy {self.root}")

    def write(self, name: str, text: str) -> None:
        """Write a source file, and drop its bytecode: time stamps in seconds do not distinguish two mutants."""
        path = self.root / name
        path.write_text(text)
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            stale.unlink()

    def compiled(self, extensions: Iterable[str]) -> dict[Path, bytes]:
        """Return the paths and contents of the compiled extension modules of these names."""
        places = [(self.root / name.replace(".", "/")) for name in extensions]
        found = [path for place in places for path in place.parent.glob(f"{place.name}.*.so")]
        return {path: path.read_bytes() for path in found}

    def build(self, extensions: Iterable[str]) -> bool:
        """Compile these extension modules as setup.py does; return whether the compiler took them."""
        options = ["-q", "build_ext", "--inplace", "--force", "--build-temp", str(self.root / "build")]
        command = [*PYTHON, "-c", BUILD, ",".join(extensions), *options]
        return not subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True).returncode

    def end_processes(self) -> None:
        """Kill all processes of this copy, also those that left the group of their parent."""
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"{MARK}={self.root}".encode() in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)
            except OSError:  # it has ended, or is somebody else's
                continue


def extensions_with(name: str) -> list[str]:
    """Return the extension modules that a C file is compiled into: its own, or for a header all that include it."""
    if name.endswith(".c"):
        return [name.removesuffix(".c").replace("/", ".")]
    users = [
        path
        for path in (CHECKOUT / PACKAGE).rglob("*.[ch]")
        if re.search(rf'"(.*/)?{re.escape(Path(name).name)}"', path.read_text())  # LOOPS names some for an #include
    ]
    return sorted({extension for user in users for extension in extensions_with(str(user.relative_to(CHECKOUT)))})


def importers(module: str) -> list[str]:
    """Return the paths of the modules of the package that import a module, by the last part of its name."""
    pattern = re.compile(rf"^\s*(from|import)\b[^\n]*\b{module}\b", re.MULTILINE)
    paths = sorted((CHECKOUT / PACKAGE).rglob("*.py"))
    return [str(path.relative_to(CHECKOUT)) for path in paths if pattern.search(path.read_text())]
