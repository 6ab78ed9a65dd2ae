"""Rules that stop an iteration by its validation errors: that of the NYTRO paper and those of its release."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import integer, real
from icub_learning.errors import ParameterError

RULES = ("simple", "averaged", "median", "linear")


class StoppingRule:
    """Stops once the validation error falls by less than a threshold over a window of iterations.

    With e the errors of the last `window` iterations:

    * "simple": e[-1] >= (1 - threshold) e[0], the paper's rule (4: "ceases to be decreasing up to a threshold")
    * "averaged", "median": the same for the mean or median of the first and of the last tenth of the window
    * "linear": the slope of the straight line fitted to e / e[0] is at least -threshold / window

    Args:
        rule: one of the names above.
        window: number of iterations, at least 2.
        threshold: in [0, 1), relative; the paper's is 0.05.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, rule: str = "simple", window: int = 10, threshold: float = 0.05) -> None:
        if rule not in RULES:
            raise ParameterError("stopping", rule, f"one of {', '.join(RULES)}, or None")
        self.rule = rule
        self.window = integer("window", window, 2)
        self.threshold = real("threshold", threshold, 0.0, 1.0)
        if self.threshold == 1.0:
            raise ParameterError("threshold", threshold, "a number in [0, 1)")

    def stops(self, errors: Sequence[float]) -> bool:
        """Return whether to stop after the iteration whose error is the last of `errors`."""
        if len(errors) < self.window:
            return False
        last = np.asarray(errors[-self.window :], dtype=np.float64)
        if not last[0] > 0:
            return True  # the error cannot fall any more
        if self.rule == "linear":
            steps = np.arange(self.window) - (self.window - 1) / 2
            slope = steps @ (last / last[0]) / (steps @ steps)
            return bool(slope >= -self.threshold / self.window)
        few = 1 if self.rule == "simple" else -(-self.window // 10)
        level = np.median if self.rule == "median" else np.mean
        return bool(level(last[-few:]) >= (1 - self.threshold) * level(last[:few]))
