"""A published figure beside ours, which an experiment's `comparisons` reads from what it writes with --json."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    def difference(self) -> float:
        """Ours minus published."""
        return self.ours - self.published

    @property
    def worse(self) -> bool:
        """Whether ours is the worse one, in as many digits as a measured figure was published with; a sign has none."""
        text = f"{self.published!r}"
        digits = 17 if self.kind == THEORY or not self.published or "e" in text else len(text.partition(".")[2])
        gap = round(self.ours, digits) - self.published
        return (self.better == "less" and gap > 0) or (self.better == "more" and gap < 0)


def nearest(value: float, edges: Sequence[float]) -> float:
    """Return the number nearest to the value between the smallest and the largest of the edges."""
    return float(np.clip(value, min(edges), max(edges)))


def worse(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return those in which ours is the worse one."""
    return [one for one in comparisons if one.worse]
