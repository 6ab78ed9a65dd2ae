"""By how much each output counts when several share the parameters of one model."""

from typing import Any

import numpy as np

from icub_learning.arrays import finite
from icub_learning.dynamics.estimators.noise.noise_variance import NoiseVariance
from icub_learning.errors import ParameterError, StateError

KINDS = ("noise", "equal")
FIRST_SAMPLES = 50  # before them the errors are those of a model that knows nothing
INTERVAL = 16  # [samples] between two looks at the noise
LARGEST = 100.0  # an output without any noise must not silence the others


class OutputWeights:
    """Weights in inverse proportion to the standard deviation of each output's noise, 1 for the noisiest.

    With them the errors of all outputs have the same variance, as least squares supposes (Aitken 1935): forces of
    newtons no longer drown torques of hundredths of a newton metre. What was learned before the noise was known, with
    weights of 1, counts too little for the others and not too much for the noisiest, so it soon ceases to matter.

    Args:
        kind: "noise": as above, from the first samples on; "equal": 1 for all.
        n_outputs: number of outputs, or (k, number of outputs) of k learners of the same samples.

    Attributes:
        kind: as given.
        value: (n_outputs,) weights of the rows and measurements of each output.

    Raises:
        ParameterError: an unknown kind.
    """

    def __init__(self, kind: str, n_outputs: int | tuple[int, ...]) -> None:
        if kind not in KINDS:
            raise ParameterError("output_weights", kind, " or ".join(map(repr, KINDS)))
        self.kind = kind
        self.value = np.ones(n_outputs)

    def follow(self, noise: NoiseVariance) -> None:
        """Take notice of the noise after one more sample."""
        if self.kind == "equal" or noise.n_samples < FIRST_SAMPLES or noise.n_samples % INTERVAL:
            return
        largest = noise.value.max(axis=-1, keepdims=True)
        known = noise.value, largest / LARGEST**2
        self.value = np.sqrt(np.divide(largest, np.maximum(*known), out=self.value**2, where=largest > 0.0))

    @classmethod
    def from_state(cls, state: dict[str, Any], kind: str, n_outputs: int | tuple[int, ...]) -> "OutputWeights":
        """Rebuild from the entry "weights" of a state. Raises StateError."""
        weights = cls(kind, n_outputs)
        try:
            value = finite("weights", state["weights"])
        except KeyError as error:
            raise StateError(f"state lacks the entry {error}", name=str(error)) from None
        if value.shape != weights.value.shape or not (value > 0).all():
            raise StateError(f"weights {value} must be positive numbers of shape {weights.value.shape}", name="weights")
        weights.value = value.copy()
        return weights
