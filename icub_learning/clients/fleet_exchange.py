"""Exchange of models in a fleet over two topics: each robot publishes its model, one station the pooled model.

Both topics are reliable and latched, so that it does not matter who starts first. A model is the file that
`~/save_model` writes. It says how many samples of each source it holds (`models/ledger.py`), so a message that is
received twice changes nothing.
"""

import array
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import SetBool

from icub_learning.clients.services import SPARE, Services, Wait, parameters_in
from icub_learning.errors import IcubLearningError
from icub_learning.files import replacing
from icub_learning.models import read_model
from icub_learning.models.kept import ModelsFolder
from icub_learning.models.ledger import Holdings, read_holdings
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.nodes.common.qos import STATE
from icub_learning_msgs.msg import Model
from icub_learning_msgs.srv import ModelFile

MODELS, POOLED = "/fleet/models", "/fleet/pooled"
# QoS for the models of all robots: a queue of depth 1 would keep only the model of the last robot.
FROM_ALL = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)

Gather = Callable[[Sequence[tuple[str, Path]]], Sequence[Any]]  # signature of dynamics.fleet.Fleet.gather


class FleetStation:
    """Pools the models that robots publish, and publishes the result when no model has come for `settle` seconds.

    Many robots that share at once thus cause one pooled model, not one each. `gather` pools into the file `pooled`;
    `tell` is called with a line about what was done, or refused.
    """

    def __init__(self, node: Node, gather: Gather, pooled: Path, settle: float, tell: Callable[[str], None]) -> None:
        self._node, self._gather, self._pooled, self._settle, self._tell = node, gather, pooled, settle, tell
        self._waiting: dict[str, bytes] = {}  # newest model of each robot that is not pooled yet
        self._last = 0.0
        self._publisher = node.create_publisher(Model, POOLED, STATE)
        node.create_subscription(Model, MODELS, self._on_model, FROM_ALL)
        if pooled.is_file():
            self._publish()

    def _on_model(self, message: Model) -> None:
        self._waiting[message.robot], self._last = bytes(message.data), time.monotonic()

    def work(self) -> None:
        if not self._waiting or time.monotonic() - self._last < self._settle:
            return
        came, self._waiting = self._waiting, {}
        taken = [self._take(robot, data) for robot, data in came.items()]
        if any(taken):
            self._publish()

    def _take(self, robot: str, data: bytes) -> bool:
        try:
            with _as_file(data) as file:
                (found,) = self._gather([(robot, file)])
        except Exception as error:  # also of a class of the user's: the models of other robots are still pooled
            self._tell(f"refused: {robot}: {error}")
            return False
        self._tell(f"{robot}: {len(data) / 1e6:.3g} MB, {found.samples} samples, {found.new} of them new")
        return True

    def _publish(self) -> None:
        data = self._pooled.read_bytes()
        self._publisher.publish(_message(self._node, "", data))
        self._tell(f"published the pooled model, {len(data) / 1e6:.3g} MB")


class FleetMember:
    """Publishes the model of a robot's node `learner`, whose models are in `folder`, and has it load the pooled one.

    `wait` handles messages until what is waited for has come."""

    def __init__(self, node: Node, wait: Wait, robot: str, learner: str, folder: ModelsFolder) -> None:
        self._node, self._wait, self._robot, self._learner, self._folder = node, wait, robot, learner, folder
        self._services, self._publisher = Services(node, wait), node.create_publisher(Model, MODELS, STATE)
        self._pooled: tuple[bytes, Holdings] = (b"", {})

    def share(self, patience: float) -> int:
        """Publish the model; return its size [bytes] once the pooling station has received it, within `patience` [s].
        Raises IcubLearningError: the node refused a request, or no station received the model."""
        sent, publisher = len(self._published()[0]), self._publisher

        def delivered() -> bool:
            return publisher.get_subscription_count() > 0 and publisher.wait_for_all_acked(Duration())

        self._require(delivered, patience, f"no station took what {self._robot} has learned", MODELS)
        return sent

    def exchange(self, patience: float) -> tuple[int, int]:
        """Publish the model, wait for a pooled model that includes it, and load that; return bytes sent and received.

        Learning pauses meanwhile, so that nothing that is learned gets lost; predictions go on. Afterwards a node that
        was learning resumes, with the pooled model or, if none came, with its own. Raises IcubLearningError: the node
        refused a request, or no such model came within `patience` [s].
        """
        subscription = self._node.create_subscription(Model, POOLED, self._on_pooled, STATE)
        answer = self._services.call(GetParameters, f"{self._learner}/get_parameters", names=["learning"])
        learning = parameters_in(answer, ["learning"]).get("learning") is True
        try:
            self._ask(SetBool, "set_learning", data=False)  # an answer that does not come may come too late
            sent, own = self._published()
            otherwise = f"no pooled model with what {self._robot} has learned came"
            self._require(lambda: self._is_pooled(own), patience, otherwise, POOLED)
            received = self._pooled[0]
            with replacing(self._folder.path(self._name("pooled"))) as file:
                file.write(received)
            self._ask(ModelFile, "load_model", path=self._name("pooled"))
        finally:
            self._resume(learning)
            self._node.destroy_subscription(subscription)
            self._pooled = (b"", {})
        return len(sent), len(received)

    def _resume(self, learning: bool) -> None:
        """Switch learning to what it was; wait for the answer after a signal too, which ends other waits at once."""
        service, end = f"{self._learner}/set_learning", time.monotonic() + SPARE
        future = self._services.ask(SetBool, service, data=learning)
        while not self._wait(future.done, SPARE) and time.monotonic() < end:
            pass
        _check_success(service, self._services.answer(service, future))

    def _published(self) -> tuple[bytes, Holdings]:
        """Save and publish the model; return its bytes, and how many samples of each source it holds."""
        self._ask(ModelFile, "save_model", path=self._name("own"))
        path = self._folder.path(self._name("own"))
        if not path.is_file():
            text = f"{self._learner} has saved its model, but {path} is not there"
            raise IcubLearningError(text, name="models_folder", value=str(path.parent), bound="the node's own")
        data = path.read_bytes()
        self._publisher.publish(_message(self._node, self._robot, data))
        return data, read_holdings(read_model(path)[0])

    def _is_pooled(self, own: Holdings) -> bool:
        """Return whether a pooled model has come that holds all of `own`."""
        data, holdings = self._pooled
        return bool(data) and all(holdings.get(source, 0) >= count for source, count in own.items())

    def _on_pooled(self, message: Model) -> None:
        data = bytes(message.data)
        # Bytes that are no model are ignored.
        with contextlib.suppress(IcubLearningError), _as_file(data) as file:
            self._pooled = (data, read_holdings(read_model(file)[0]))

    def _require(self, done: Callable[[], bool], patience: float, otherwise: str, topic: str) -> None:
        if not self._wait(done, patience):
            running = "is `icub-learning fleet pool` running? It prints which models it has refused, and why"
            raise IcubLearningError(f"{otherwise} within {patience:g} s: {running}", name=topic)

    def _name(self, what: str) -> str:
        return f"fleet_{self._robot}_{what}"

    def _ask(self, kind: Any, service: str, **fields: Any) -> None:
        service = f"{self._learner}/{service}"
        _check_success(service, self._services.call(kind, service, **fields))


def _check_success(service: str, answer: Any) -> None:
    if not answer.success:
        raise IcubLearningError(f"{service}: {answer.message}", name=service.rpartition("/")[2])


def _message(node: Node, robot: str, data: bytes) -> Model:
    message = Model(robot=robot, data=array.array("B", data))
    set_stamp(message.header.stamp, node.get_clock().now().nanoseconds)
    return message


@contextlib.contextmanager
def _as_file(data: bytes) -> Iterator[Path]:
    """Yield the path of a file with these bytes, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.npz")
        file.write_bytes(data)
        yield file
