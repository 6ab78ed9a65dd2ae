"""How a model of inverse dynamics describes itself in its file, and how large it may be."""

from dataclasses import asdict
from typing import Any

from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import Settings
from icub_learning.models.header import ModelHeader, digest_of_urdf

KIND = "inverse_dynamics"
# A state holds a few triangular factors of all columns, stored as squares, and little beside; so many squares at most.
MOST_SQUARES = 4
SMALL_PARTS = 16 * 2**20  # [bytes]: the URDF as text, names, frequencies of features


class ModelDescription:
    """Describes models of one robot, learned with the same settings.

    Args:
        settings: how it is learned.
        regressor: its robot.
    """

    def __init__(self, settings: Settings, regressor: Regressor) -> None:
        self._settings = {name: value for name, value in asdict(settings).items() if name != "urdf"}
        self._joints = tuple(regressor.joints)
        self._sensor = settings.sensor if settings.output == "wrench" else ""
        self._robot, self._digest = digest_of_urdf(str(regressor.state()["urdf"]))
        width = max(settings.n_random_features, settings.max_dictionary) + regressor.n_parameters + 100
        self.largest = MOST_SQUARES * 8 * width**2 + SMALL_PARTS  # [bytes] of a model

    def header(self, n_samples: int) -> ModelHeader:
        """Return the description of a model of so many samples."""
        statistics: dict[str, Any] = {"samples": n_samples}
        return ModelHeader(
            KIND,
            robot=self._robot,
            urdf_digest=self._digest,
            joints=self._joints,
            sensor=self._sensor,
            settings=self._settings,
            statistics=statistics,
        )
