"""Figures of experiments: times, errors, tables over repetitions, and comparisons with published or expected ones."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.experiments.options import Arguments
from icub_learning.reporting.tables import number, plain, save_figures, table

Figures = Mapping[str, Any]
# Kinds of comparison with a published figure, in the order of the page.
SAME = "on the same data"
STAND_IN = "on data that stand in for theirs, or fewer of the same"
THEORY = "of theory: bounds, rates and counts"
TIME = "times, on other machines"
WORSE = "Worse than published:"  # first words of the last lines that an experiment prints
KINDS = (SAME, STAND_IN, THEORY, TIME)
Row = tuple[str, list[float], str, bool]  # name, values by seed, expectation, whether it is met


def seconds(work: Callable[..., object], *arguments: Any) -> float:
    """Call `work` with the arguments and return how long it took [s]."""
    start = perf_counter()
    work(*arguments)
    return perf_counter() - start


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exponent of the power law y ~ x^e that fits positive points best (least squares of logarithms)."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def gathered(draws: Sequence[Any]) -> Any:
    """Return the figures of several draws, nested mappings of numbers, as one with a list in place of each number."""
    if not isinstance(draws[0], Mapping):
        return list(draws)
    return {name: gathered([one[name] for one in draws]) for name in draws[0]}


def decimals(*published: float) -> int:
    """Return the most digits after the point of published figures of one kind: numbers lose their last zeros."""
    return max(0 if "e" in f"{one!r}" else len(f"{one!r}".partition(".")[2]) for one in published)


@dataclass(frozen=True)
class Comparison:
    """A published value beside ours, in the unit of `what`; `better` is "less", "more" or ""; `kind` one of KINDS."""

    what: str
    ours: float  # NaN or None: not a number
    published: float
    better: str = ""
    kind: str = SAME
    spread: float = 0.0  # standard deviation of the difference, from those of ours and theirs that are known
    why: str = ""  # reason why ours is worse
    digits: int = 0  # digits after the point that are published, where `published` itself has fewer; see `decimals`

    def __post_init__(self) -> None:
        object.__setattr__(self, "ours", math.nan if self.ours is None else self.ours)  # as JSON has it
        assert self.better in ("less", "more", "") and self.kind in KINDS, f"{self.what}: {self.better}, {self.kind}"

    @property
    def worse(self) -> bool:
        """Whether ours, rounded as published, is worse or not a number; theory and a published 0 are not rounded."""
        exact = self.kind == THEORY or not self.published or "e" in f"{self.published!r}"
        gap = round(self.ours, 17 if exact else max(self.digits, decimals(self.published))) - self.published
        return (self.better == "less" and not gap <= 0) or (self.better == "more" and not gap >= 0)

    @property
    def remark(self) -> str:
        """The word "worse" with its reason, or "" if ours is not worse."""
        within = abs(self.ours - self.published) <= self.spread
        reason = f"within the deviation of {number(self.spread, 2)}" if within else self.why
        reason = "not a number" if math.isnan(self.ours) else reason
        reason = reason or ("theirs is of another machine" if self.kind == TIME else "")
        return ": ".join(filter(None, ("worse", reason))) if self.worse else ""


Comparisons = Iterator[Comparison]


def conclude(args: Arguments, figures: Figures, comparisons: Callable[[Figures], Comparisons]) -> None:
    """Write the figures of an experiment with --json, and print which of them are worse than published."""
    save_figures(args.json, figures)
    entries = list(comparisons(plain(figures)))
    some = [one for one in entries if one.worse]
    behind = [f"  {one.what}: {number(one.ours, 4)}, published {one.published:g}; {one.remark}" for one in some]
    print("\n".join([f"{WORSE} {len(behind)} of {len(entries)} figures", *behind]))


def seen(what: str, values: Sequence[float] | Array) -> Row:
    """Return a row without an expectation."""
    return what, [*map(float, values)], "", True


def at_most(what: str, values: Sequence[float] | Array, bound: float) -> Row:
    """Return a row whose values are all expected to be at most the bound."""
    return what, [*map(float, values)], f"at most {bound:g}", all(value <= bound for value in values)


def expectations(part: str, rows: Sequence[Row], seeds: Iterable[int], mean: bool = False) -> str:
    """Return the table of one part of an experiment; `mean` adds means over the seeds, which are then judged."""
    cells = [
        [what, *(number(value) for value in values), *([number(float(np.mean(values)))] if mean else []), expected,
         "" if mean and not expected else "yes" if good else "NO"]
        for what, values, expected, good in rows
    ]  # fmt: skip
    more = ["mean", "expected of the mean"] if mean else ["expected"]
    return f"\n{table([part, *(f'seed {seed}' for seed in seeds), *more, 'reached'], cells)}\n"
