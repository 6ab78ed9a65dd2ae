"""One parameter of the noise that all joints share, moved by how well its neighbours predicted."""

from icub_learning.arrays import Array


class SharedLevel:
    """A parameter that all joints share, moved by what its neighbours scored.

    Args:
        value: where it starts.
    """

    def __init__(self, value: float) -> None:
        self.value = value
        self._gradient = self._information = 0.0

    def move(self, here: Array, up: Array, down: Array, keep: float, gain: float, spacing: float) -> None:
        """Step towards the better neighbour.

        Args:
            here, up, down: (n_joints,) log-likelihoods of the value and of its neighbours.
            keep: weight of earlier likelihoods.
            gain: share of a whole step that is taken.
            spacing: distance of the neighbours from the value.
        """
        self._gradient = keep * self._gradient + float((up - down).sum()) / (2.0 * spacing)
        self._information = keep * self._information + float((2.0 * here - up - down).sum()) / spacing**2
        known = max(self._information, abs(self._gradient) / spacing) + 1.0 / spacing**2
        self.value += gain * self._gradient / known

    def clip(self, low: float, high: float) -> None:
        """Keep the value within bounds."""
        self.value = min(max(self.value, low), high)
