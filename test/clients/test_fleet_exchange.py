"""A fleet over topics: three robots pool what they learned, twice, and know what one knows that saw all."""

import re
import signal
import sys

import numpy as np
import pytest
import rclpy
from helpers.robots import RIGHT_ARM
from helpers.ros_probe import RosProbe, spun
from helpers.waiting import PATIENCE, wait_until
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool

from icub_learning.clients.fleet_exchange import FROM_ALL, MODELS, FleetStation
from icub_learning.dynamics import assembly
from icub_learning.dynamics.fleet import Fleet
from icub_learning.dynamics.saved_model import ModelDescription, estimator_of
from icub_learning.dynamics.settings import Settings
from icub_learning.models import read_model, write_model
from icub_learning.models.ledger import accounted
from icub_learning.robots import find_urdf
from icub_learning_msgs.msg import Model
from icub_learning_msgs.srv import ModelFile

ROBOTS = ("one", "two", "three")
SETTINGS = Settings(find_urdf("icub"), tuple(RIGHT_ARM), estimator="parametric", output_weights="equal", forgetting=1.0)


class FleetRobot(Node):
    """A node with the services of a learning node: it saves and loads as that does, and the test teaches it."""

    def __init__(self, name, folder):
        super().__init__(f"{name}_dynamics")
        self.estimator, self._description = new_estimator()
        self._folder, self.paused = folder, 0  # how often learning was paused
        self.declare_parameter("learning", True)
        self.create_service(SetBool, "~/set_learning", self._set_learning)
        self.create_service(ModelFile, "~/save_model", self._save)
        self.create_service(ModelFile, "~/load_model", self._load)

    @property
    def learning(self) -> bool:
        return self.get_parameter("learning").value

    def _set_learning(self, request: SetBool.Request, _response: object) -> SetBool.Response:
        self.paused += self.learning and not request.data
        self.set_parameters([Parameter("learning", value=request.data)])
        return SetBool.Response(success=True)

    def _save(self, request: ModelFile.Request, _response: object) -> ModelFile.Response:
        header = self._description.header(self.estimator.n_samples)
        write_model(self._folder / f"{request.path}.npz", accounted(self.estimator), header)
        return ModelFile.Response(success=True)

    def _load(self, request: ModelFile.Request, _response: object) -> ModelFile.Response:
        self.estimator = estimator_of(read_model(self._folder / f"{request.path}.npz")[0])
        return ModelFile.Response(success=True)


def new_estimator():
    regressor = assembly.make_regressor(SETTINGS)
    return assembly.make_estimator(SETTINGS, regressor), ModelDescription(SETTINGS, regressor)


@pytest.fixture
def robots(ros_domain, tmp_path):
    """Three robots on this test's ROS domain, whose services are answered in a thread."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    made = {name: FleetRobot(name, tmp_path / name) for name in ROBOTS}
    with spun(*made.values()):
        yield made
    rclpy.shutdown()


def fleet(start_process, *arguments):
    return start_process(sys.executable, "-m", "icub_learning.cli", "fleet", *arguments)


def share(start_process, tmp_path, *options):
    """Let all robots share at once, with a long time limit; return their processes."""
    options = (*options, "--timeout", f"{PATIENCE:g}")
    given = {name: ("--node", f"/{name}_dynamics", "--models-folder", str(tmp_path / name)) for name in ROBOTS}
    processes = [fleet(start_process, "share", name, *given[name], *options) for name in ROBOTS]
    assert [process.wait() for process in processes] == [0, 0, 0], [process.output for process in processes]
    return processes


def test_three_robots_know_over_topics_what_one_that_saw_all_knows(robots, start_process, tmp_path):
    whole, rng = new_estimator()[0], np.random.default_rng(0)

    def learn(name: str, n: int) -> None:
        for _ in range(n):
            sample = (*rng.normal(size=(3, 7)), rng.normal(size=6))
            robots[name].estimator.update(*sample)
            whole.update(*sample)

    def difference() -> float:
        pooled = estimator_of(read_model(tmp_path / "fleet" / "pooled.npz")[0])
        assert pooled.n_samples == whole.n_samples
        return float(np.abs(pooled.parameters - whole.parameters).max() / np.abs(whole.parameters).max())

    station = fleet(start_process, "pool", str(tmp_path / "fleet"), "--settle", "0.2")
    station.wait_for("waiting for the models")
    for name, n in zip(ROBOTS, (90, 70, 50), strict=True):
        learn(name, n)
    share(start_process, tmp_path)
    station.wait_for(r"(?s)(samples.*){3}published")
    assert difference() < 1e-8 and all(robot.paused == 0 for robot in robots.values())
    for name in ROBOTS:  # each from its own model; then all load the pooled one, and learn again
        learn(name, 40)
    robots["three"].set_parameters([Parameter("learning", value=False)])
    for process in share(start_process, tmp_path, "--load"):
        assert re.search(r"sent [\d.]+ MB, went on from [\d.]+ MB of all robots", process.output)
    assert difference() < 1e-8 and [robot.paused for robot in robots.values()] == [1, 1, 0]
    assert [robot.learning for robot in robots.values()] == [True, True, False]  # learning stays off
    for name, robot in robots.items():
        assert robot.estimator.n_samples > 130, name  # samples of the others are included
        learn(name, 30)
    share(start_process, tmp_path)
    station.wait_for(r"(?s)(samples, [1-9]\d* of them new.*){9}published")
    assert difference() < 1e-8 and station.stop() == 0


def test_a_robot_without_a_station_goes_on_by_itself(robots, start_process, tmp_path):
    robots["one"].estimator.update(*np.ones((3, 7)), np.ones(6))
    options = ("--node", "/one_dynamics", "--models-folder", str(tmp_path / "one"), "--timeout", "1")
    for more, what in (((), "no station took what"), (("--load",), "no pooled model with what")):
        ended = fleet(start_process, "share", "one-1", *options, *more)
        assert ended.wait() == 2
        said = "within 1 s: is `icub-learning fleet pool` running. It prints which models it has refused"
        assert re.search(f"{what} one-1 has learned .*{said}", ended.output)
    sharing = fleet(start_process, "share", "one", *options[:-1], "240", "--load")
    wait_until(lambda: not robots["one"].learning, "a pause of learning")
    assert sharing.stop(signal.SIGHUP) == 130  # the terminal was closed
    wait_until(lambda: robots["one"].learning, "its end")
    assert robots["one"].estimator.n_samples == 1


def test_what_is_no_model_is_refused_and_others_are_pooled(ros_domain, tmp_path):
    robot, description = new_estimator()
    robot.update(*np.ones((3, 7)), np.ones(6))
    good = write_model(tmp_path / "good.npz", accounted(robot), description.header(1)).read_bytes()
    lines, pool = [], Fleet(tmp_path / "fleet")
    with RosProbe() as probe:
        gather = lambda files: 1 / 0 if files[0][0] == "odd" else pool.gather(files)  # noqa: E731
        station = FleetStation(probe.node, gather, pool.pooled, 0.2, lines.append)
        publisher = probe.node.create_publisher(Model, MODELS, FROM_ALL)

        def work() -> None:
            probe.take_in()
            station.work()

        def publish(**models: bytes) -> None:
            for name, data in models.items():
                publisher.publish(Model(robot=name, data=data))
            count = len(lines) + len(models) + 1
            wait_until(lambda: len(lines) == count, f"{count} lines of {lines}", work)

        publish(**{"odd": good, "good": good, "cut": good[:1000], "../evil": good, "empty": b""})
        publish(good=good)  # the same again changes nothing
        FleetStation(probe.node, pool.gather, pool.pooled, 0.2, lines.append)  # tells at once what there is
    assert lines[-2:] == [f"published the pooled model, {pool.pooled.stat().st_size / 1e6:.3g} MB"] * 2
    refused = sorted(line.split(":")[1].strip() for line in lines if line.startswith("refused"))
    assert refused == ["../evil", "cut", "empty", "odd"]
    said = [f"good: {len(good) / 1e6:.3g} MB, 1 samples, {new} of them new" for new in (1, 0)]
    assert [line for line in lines if line.startswith("good")] == said and pool.pooled.is_file()
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("good.npz", "fleet")] == []
