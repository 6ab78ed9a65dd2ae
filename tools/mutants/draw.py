"""Mutants, drawn at random places from a seed, kept in files, applied to source."""

import importlib
import json
import random
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tools.mutants import c_source
from tools.mutants.tree import CHECKOUT, PACKAGE, Copy, extensions_with, files_of


@dataclass(frozen=True)
class Mutant:
    """One change: the lines `old`, of which the first has number `line`, become `new`."""

    file: str
    line: int
    old: str
    new: str

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Mutant":
        """Return the mutant of an entry in a file, which may have further fields."""
        return cls(*(entry[name] for name in ("file", "line", "old", "new")))

    @property
    def room(self) -> str:
        """The folder below the package, or the package itself."""
        parts = self.file.split("/")
        return parts[1] if len(parts) > 2 else PACKAGE

    def place(self, source: str) -> int | None:
        """Return the index of the first of the old lines in a text, the nearest to where they were; None if gone."""
        lines, old = source.split("\n"), self.old.split("\n")
        places = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
        return min(places, key=lambda at: abs(at + 1 - self.line), default=None)

    def apply(self, source: str) -> str:
        """Return the changed source."""
        lines, at = source.split("\n"), self.place(source)
        return "\n".join([*lines[:at], *self.new.split("\n"), *lines[at + len(self.old.split("\n")) :]])


def difference(file: str, source: str, changed: str) -> Mutant:
    """Return the mutant that makes one text of the other: whole lines, from the first that differs to the last."""
    old, new = source.split("\n"), changed.split("\n")
    same = next(at for at in range(len(old)) if old[at] != new[at])
    tail = next(at for at in range(1, len(old) + 1) if old[-at] != new[-at]) - 1
    return Mutant(file, same + 1, *("\n".join(lines[same : len(lines) - tail]) for lines in (old, new)))


def sources() -> dict[str, str]:
    """Return the source files of the package, Python and C, by path."""
    names = [name for name in files_of(CHECKOUT) if name.startswith(f"{PACKAGE}/")]
    return {name: (CHECKOUT / name).read_text() for name in names if name.endswith((".py", ".c", ".h"))}


def rooms(lines: Counter[str], number: int) -> dict[str, int]:
    """Return how many of `number` each room gets in proportion to its lines, by the largest remainders."""
    shares = {room: number * count / lines.total() for room, count in lines.items()}
    found = {room: int(share) for room, share in shares.items()}
    short = sorted(shares, key=lambda room: found[room] - shares[room])[: number - sum(found.values())]
    return {room: count + (room in short) for room, count in found.items()}


def python_source() -> ModuleType:
    """Return the module that changes Python; only those who draw mutants need cosmic-ray."""
    return importlib.import_module("tools.mutants.python_source")


def draw(texts: dict[str, str], number: int, seed: int, copy: Copy) -> list[Mutant]:
    """Return mutants of these sources: rooms and files by their lines, then a place, then a change.

    Args:
        copy: where C is compiled; what the compiler refuses, or turns into the same code, is drawn again.
    """
    generator = random.Random(seed)
    sizes = {file: text.count("\n") for file, text in texts.items()}
    room_of = {file: Mutant(file, 0, "", "").room for file in texts}
    lines: Counter[str] = Counter()
    for file, size in sizes.items():
        lines[room_of[file]] += size
    found: list[Mutant] = []
    for room, count in sorted(rooms(lines, number).items()):
        files = [file for file in sorted(texts) if room_of[file] == room]
        wanted, tries = len(found) + count, 0
        while len(found) < wanted and (tries := tries + 1) < 100 * count:
            file = generator.choices(files, [sizes[name] for name in files])[0]
            module = python_source() if file.endswith(".py") else c_source
            if not (places := module.places(texts[file])):
                continue
            changed = module.change(texts[file], places[generator.choice(sorted(places))], generator)
            if changed is None or (mutant := difference(file, texts[file], changed)) in found:
                continue
            if file.endswith(".py") or compiles(mutant, copy):
                found.append(mutant)
    return found


def compiles(mutant: Mutant, copy: Copy) -> bool:
    """Return whether the compiler accepts a change of C and makes different code of it."""
    source = (copy.root / mutant.file).read_text()
    extensions = extensions_with(mutant.file)
    before = unchanged(copy, tuple(extensions))
    copy.write(mutant.file, mutant.apply(source))
    differs = copy.build(extensions) and copy.compiled(extensions) != before
    copy.write(mutant.file, source)
    for path, content in before.items():
        path.write_bytes(content)
    return differs


@cache
def unchanged(copy: Copy, extensions: tuple[str, ...]) -> dict[Path, bytes]:
    """Return the contents of compiled extension modules as this compiler makes them of unchanged source."""
    copy.build(extensions)
    return copy.compiled(extensions)


def save(mutants: list[Mutant], path: Path) -> None:
    """Write mutants as a list in JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1))


def load(path: Path) -> list[Mutant]:
    """Return the mutants of a file that `save` or `--json` wrote."""
    return [Mutant.of(entry) for entry in json.loads(path.read_text())]
