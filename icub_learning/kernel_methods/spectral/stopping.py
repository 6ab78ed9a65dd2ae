"""When an iteration stops by its validation errors."""

from collections.abc import Sequence

FIRST = 10  # the iteration after which the rule judges; the first ones fit the mean, then they may seem to rest
# A doubling that gains less is the last: at that rate ten further ones, a thousand times the iterations, gain 1 %.
GAIN = 0.001


def stops(errors: Sequence[float], threshold: float = GAIN) -> bool:
    """Return whether the validation error of iterations 1..t fell by less than a share `threshold` while t doubled.

    1 / t plays the part of lambda, which is searched on a logarithmic grid: equal ratios of t are equal steps of
    regularization. Over a fixed number of iterations, as in the release of the NYTRO paper, the same threshold means
    less and less of such a step, and stops every slow descent.
    """
    t = len(errors)
    return t >= FIRST and errors[-1] >= (1 - threshold) * errors[t // 2 - 1]
