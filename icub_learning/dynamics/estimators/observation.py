"""How much time passes between samples, as the estimators reckon it."""

USUAL_PERIOD = 0.01  # [s] between samples that come without stamps
LONGEST_PERIOD = 1.0  # [s] a longer pause counts as this long: what was learned before it still holds


def seconds_between(last: int | None, stamp: int | None) -> float:
    """Return the time [s] from one sample to the next, by their stamps [ns]; USUAL_PERIOD where one has none."""
    if last is None or stamp is None:
        return USUAL_PERIOD
    return min(max((stamp - last) * 1e-9, 1e-6), LONGEST_PERIOD)
