"""A robot of a fleet in tests: an estimator behind the services of a learning node, without joint states."""

from pathlib import Path
from typing import Any

from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from std_srvs.srv import SetBool

from icub_learning.dynamics.saved_model import ModelDescription, estimator_of
from icub_learning.models import read_model, write_model
from icub_learning.models.ledger import accounted
from icub_learning_msgs.srv import ModelFile


class FleetRobot:
    """Saves and loads as the node does; what it learns, the test tells it.

    Attributes:
        estimator: what it has learned.
        learning: whether it may learn.
        paused: how often learning was paused.
    """

    def __init__(self, node: Node, name: str, folder: Path, estimator: Any, description: ModelDescription) -> None:
        self.estimator, self.folder, self.description = estimator, folder, description
        self.learning, self.paused = True, 0
        node.create_service(SetBool, f"/{name}/set_learning", self._set_learning)
        node.create_service(GetParameters, f"/{name}/get_parameters", self._get_parameters)
        node.create_service(ModelFile, f"/{name}/save_model", self._save)
        node.create_service(ModelFile, f"/{name}/load_model", self._load)

    def _set_learning(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.paused += self.learning and not request.data
        self.learning = response.success = request.data
        response.success = True
        return response

    def _get_parameters(
        self, request: GetParameters.Request, response: GetParameters.Response
    ) -> GetParameters.Response:
        assert request.names == ["learning"]
        response.values = [ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=self.learning)]
        return response

    def _save(self, request: ModelFile.Request, response: ModelFile.Response) -> ModelFile.Response:
        header = self.description.header(self.estimator.n_samples)
        write_model(self.folder / f"{request.path}.npz", accounted(self.estimator), header)
        response.success = True
        return response

    def _load(self, request: ModelFile.Request, response: ModelFile.Response) -> ModelFile.Response:
        state, _ = read_model(self.folder / f"{request.path}.npz")
        self.estimator = estimator_of(state)
        response.success = True
        return response
