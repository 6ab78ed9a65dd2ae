"""Tables of figures with what is expected of them, and whether it is reached."""

from collections.abc import Iterable, Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.reporting.tables import number, table

Row = tuple[str, list[float], str, bool]  # what, its values for each seed, what is expected, whether it is reached


def seen(what: str, values: Sequence[float] | Array) -> Row:
    """Return a row of which nothing is expected."""
    return what, [*map(float, values)], "", True


def at_most(what: str, values: Sequence[float] | Array, bound: float) -> Row:
    """Return a row whose values are all expected to be at most the bound."""
    return what, [*map(float, values)], f"at most {bound:g}", all(value <= bound for value in values)


def text(part: str, rows: Sequence[Row], seeds: Iterable[int], mean: bool = False) -> str:
    """Return the table of a part, with the means of the values where those are what is judged."""
    cells = [
        [what, *(number(value) for value in values), *([number(float(np.mean(values)))] if mean else []), expected,
         "" if mean and not expected else "yes" if good else "NO"]
        for what, values, expected, good in rows
    ]  # fmt: skip
    more = ["mean", "expected of the mean"] if mean else ["expected"]
    return f"\n{table([part, *(f'seed {seed}' for seed in seeds), *more, 'reached'], cells)}\n"
