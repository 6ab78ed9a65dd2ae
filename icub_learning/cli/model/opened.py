"""A model file with the learner that it holds, of either kind."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.dynamics import saved_model as dynamics
from icub_learning.errors import StateError
from icub_learning.models import ModelHeader, read_model
from icub_learning.models.header import digest_of_urdf
from icub_learning.models.states import broken_entries, scalar
from icub_learning.recognition import assembly
from icub_learning.recognition import saved_model as objects

URDF_ENTRIES = ("regressor.urdf", "parametric.regressor.urdf")  # of a state of inverse dynamics


@dataclass(frozen=True)
class OpenedModel:
    """A model that was read, compared with its checksums, and rebuilt."""

    path: Path  # its file
    header: ModelHeader  # its description; made from the state where an earlier release wrote none
    described: bool  # whether the file has a description and checksums
    state: dict[str, Any]  # its arrays
    learner: Any  # an estimator of inverse dynamics, or an object recognizer

    @property
    def bytes(self) -> int:
        """Size of the arrays."""
        return sum(np.asarray(value).nbytes for value in self.state.values())


def open_model(path: Path) -> OpenedModel:
    """Read and rebuild a model. Raises StateError with the reason if it is missing, damaged, newer or no model."""
    state, header = read_model(path)
    if "estimator" in state:
        learner: Any = dynamics.estimator_of(state)
        found = _described_dynamics(state, learner)
    elif "recognizer" in state or state.keys() == {objects.EMPTY}:
        learner = assembly.make_recognizer(assembly.Settings())
        objects.restore(learner, state)
        found = objects.describe(assembly.Settings(), learner, "")
    else:
        raise StateError(f"{path} holds neither a model of inverse dynamics nor one of objects", value=str(path))
    if broken := broken_entries(state):
        raise StateError(f"{path} holds numbers that are not finite, in {', '.join(broken)}", value=str(path))
    return OpenedModel(path, header or found, header is not None, state, learner)


def _described_dynamics(state: dict[str, Any], learner: Any) -> ModelHeader:
    """Return what a state of inverse dynamics tells of itself, for files without a description."""
    entry = next((name for name in URDF_ENTRIES if name in state), None)
    robot, digest = digest_of_urdf(str(scalar(state, entry))) if entry else ("", "")
    samples = {"samples": learner.n_samples}
    return ModelHeader(
        dynamics.KIND, robot, digest, tuple(learner.regressor.joints), settings={}, statistics=samples, saved_at=0.0
    )
