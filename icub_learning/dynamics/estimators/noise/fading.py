"""How fast means over errors and signals forget."""

YOUNG = 0.25  # half-life over the time since the first sample: the large errors of the start are soon forgotten


def fade(elapsed: float, age: float, half_life: float) -> float:
    """Return the factor by which the weight of earlier samples falls.

    Args:
        elapsed: time since the last sample [s].
        age: time since the first sample [s], above 0.
        half_life: time in which a sample loses half of its weight, at most [s].
    """
    return float(0.5 ** (elapsed / min(half_life, YOUNG * age)))
