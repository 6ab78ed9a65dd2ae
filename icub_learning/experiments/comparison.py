"""Published figures beside ours, which an experiment's `comparisons` reads from what it writes with --json."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icub_learning.reporting.tables import number, plain, save_figures

Figures = Mapping[str, Any]
# What a published figure is held against, in the order of the page.
SAME = "on the same data"
STAND_IN = "on data that stand in for theirs, or fewer of the same"
THEORY = "of theory: bounds, rates and counts"
TIME = "times, on other machines"
KINDS = (SAME, STAND_IN, THEORY, TIME)


@dataclass(frozen=True)
class Comparison:
    """A published value beside ours, in the unit of `what`; `better` is "less", "more" or ""; `kind` one of KINDS."""

    what: str
    ours: float
    published: float
    better: str = ""
    kind: str = SAME

    @property
    def worse(self) -> bool:
        """Whether ours is the worse one, in as many digits as a measured figure was published with; a sign has none."""
        text = f"{self.published!r}"
        digits = 17 if self.kind == THEORY or not self.published or "e" in text else len(text.partition(".")[2])
        gap = round(self.ours, digits) - self.published
        return (self.better == "less" and gap > 0) or (self.better == "more" and gap < 0)


Comparisons = Iterator[Comparison]


def nearest(value: float, edges: Sequence[float]) -> float:
    """Return the number nearest to the value between the smallest and the largest of the edges."""
    return float(np.clip(value, min(edges), max(edges)))


def conclude(args: argparse.Namespace, figures: Figures, comparisons: Callable[[Figures], Comparisons]) -> None:
    """Print which figures of an experiment are worse than published, and write all of them with --json."""
    entries = list(comparisons(plain(figures)))
    behind = [f"  {one.what}: {number(one.ours, 4)}, published {one.published:g}" for one in entries if one.worse]
    print("\n".join([f"Worse than published: {len(behind)} of {len(entries)} figures", *behind]))
    save_figures(args.json, figures)
