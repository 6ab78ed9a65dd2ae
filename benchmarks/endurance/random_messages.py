"""Random messages of any type, whose fields are read from the type."""

import array
import math
import re
import sys
from importlib import import_module
from random import Random
from typing import Any

STRINGS = (
    "",
    "unknown",
    "/",
    "..",
    "../../etc/passwd",
    "~/x",
    "a" * 300,
    "a/" * 400,
    "\n",
    "ä💡",
    "\x00",
    "%s%n",
    "{}",
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-320, 1e4, 1e5, 1e60, sys.float_info.max, math.inf, -math.inf, math.nan)
LENGTHS = (0, 1, 2, 3, 6, 7, 7, 7, 8, 32, 300)
CHANGED_AT_ONCE = 4  # fields at most that are changed in a valid message
_SEQUENCE = re.compile(r"sequence<(.+?)(?:, *(\d+))?>|(.+)\[(\d+)\]")
_INTEGER = re.compile(r"u?int(\d+)")


class RandomMessages:
    """Draws messages, from scratch or by changing some fields of valid ones.

    Args:
        rng: source of randomness; anything with the methods of random.Random.
        words: strings that are likely to mean something to a node, such as names of joints.
    """

    def __init__(self, rng: Random, words: tuple[str, ...] = ()) -> None:
        self._rng = rng
        self._words = (*STRINGS, *words)

    def message(self, kind: Any) -> Any:
        """Return a message, all of whose fields are random."""
        made = kind()
        for name, text in kind.get_fields_and_field_types().items():
            setattr(made, name, self._value(text))
        return made

    def changed(self, message: Any) -> Any:
        """Change a few fields of a valid message at any depth, and return it."""
        for _ in range(self._rng.randint(1, CHANGED_AT_ONCE)):
            owner = message
            while True:
                names = owner.get_fields_and_field_types()
                name = self._rng.choice(list(names))
                value = getattr(owner, name)
                if not hasattr(value, "get_fields_and_field_types"):
                    break
                owner = value
            if isinstance(value, (list, array.array)) and len(value) and self._rng.random() < 0.5:
                self._change_one(owner, name, names[name])
            else:
                setattr(owner, name, self._value(names[name]))
        return message

    def bytes_of(self, data: bytes) -> bytes:
        """Return damaged bytes: some changed, cut off, or added to."""
        damaged = bytearray(data)
        for _ in range(self._rng.randint(0, 8)):
            if damaged:
                damaged[self._rng.randrange(len(damaged))] = self._rng.randrange(256)
        if self._rng.random() < 0.3:
            del damaged[self._rng.randint(0, len(damaged)) :]
        if self._rng.random() < 0.1:
            damaged += self._rng.randbytes(self._rng.randint(0, 64))
        return bytes(damaged)

    def _change_one(self, owner: Any, name: str, text: str) -> None:
        values = list(getattr(owner, name))
        if found := _SEQUENCE.fullmatch(text):
            values[self._rng.randrange(len(values))] = self._value(found[1] or found[3])
        setattr(owner, name, values)

    def _value(self, text: str) -> Any:
        """Return a random value of a type, written as in get_fields_and_field_types."""
        rng = self._rng
        if text in ("double", "float", "long double"):
            value = rng.choice(FLOATS) if rng.random() < 0.5 else rng.gauss(0.0, 1.0)
            return value if text != "float" or not math.isfinite(value) else max(min(value, 3e38), -3e38)
        if found := _SEQUENCE.fullmatch(text):
            element = found[1] or found[3]
            size = int(found[4]) if found[4] else min(rng.choice(LENGTHS), int(found[2] or 300))
            if element in ("uint8", "octet", "byte", "char") and size > 64:
                return array.array("B", rng.randbytes(size))
            values = [self._value(element) for _ in range(size)]
            return values
        if found := _INTEGER.fullmatch(text):
            return self._integer(int(found[1]), text.startswith("u"))
        if text == "boolean":
            return rng.random() < 0.5
        if text in ("octet", "byte"):
            return bytes([rng.randrange(256)])
        if text == "char":
            return rng.randrange(256)
        if text.startswith(("string", "wstring")):
            return rng.choice(self._words) if rng.random() < 0.9 else rng.randbytes(8).decode("latin-1")
        package, name = text.split("/")
        for part in ("msg", "srv", "action"):
            found_kind = getattr(import_module(f"{package}.{part}"), name, None)
            if found_kind is not None:
                return self.message(found_kind)
        raise TypeError(f"no strategy for a field of type {text}")

    def _integer(self, bits: int, unsigned: bool) -> int:
        low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        pick = self._rng.choice((low, high, 0, 1, self._rng.randint(low, high), self._rng.randint(0, 100)))
        return min(max(pick, low), high)
