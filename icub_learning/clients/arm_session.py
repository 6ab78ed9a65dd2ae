"""A session that starts the simulated arm and nodes that learn from it, and leads them through an experiment."""

from collections.abc import Callable, Iterable
from typing import Any

import rclpy
import yaml
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from std_srvs.srv import SetBool

from icub_learning.clients.polling import PredictionMonitor
from icub_learning.clients.processes import Processes
from icub_learning.clients.session import Session
from icub_learning.errors import IcubLearningError
from icub_learning.evaluation.predict_then_learn import ESTIMATORS
from icub_learning.launching.commands import node_command, share_folder
from icub_learning.nodes.common.qos import DISCOVERY_TIME
from icub_learning_msgs.srv import SetTask

SIMULATION = "icub_simulation"  # name of the simulation's node
NODES = {"P": "inverse_dynamics_p", "NP": "inverse_dynamics_np", "SP": "inverse_dynamics_sp"}  # node names by estimator
START_LIMIT = 40.0  # [s] longest time for the processes to come up
ANSWER_LIMIT = 10.0  # [s] longest time until the first predictions
SLACK, SPARE = 1.2, 5.0  # t simulated seconds may take SLACK t + SPARE [s]: the simulation may be slow


def commands(task: str, rate: float) -> dict[str, list[str]]:
    """Return the command lines of the nodes of config/simulation.yaml, by node name, with a learner per estimator."""
    config = share_folder() / "config" / "simulation.yaml"
    learner = yaml.safe_load(config.read_text(encoding="utf-8"))["inverse_dynamics"]["ros__parameters"]
    given = {"task": task, "rate": rate, "autostart": False}
    found = {SIMULATION: node_command("icub_simulation", SIMULATION, given, parameter_files=[str(config)])}
    for short, name in NODES.items():
        found[name] = node_command("inverse_dynamics", name, {**learner, "estimator": ESTIMATORS[short]})
    return found


class ArmSession(Session):
    """Leads the simulation and the learners; `nodes` has the learners' names by estimator, `monitor` all messages."""

    def __init__(self, processes: Processes, nodes: dict[str, str], show: Callable[[str], None]) -> None:
        super().__init__("icub_learning_arm_session", processes, show)
        self._learners = tuple(nodes.values())
        self.monitor = PredictionMonitor(rclpy.create_node("icub_learning_prediction_monitor"), nodes)

    def poll(self) -> None:
        self.monitor.poll()

    def start(self) -> None:
        """Start simulated time once all learners have subscribed, so that all learn from the same samples. Raises
        IcubLearningError: a process ended, or did not come up in time."""

        def subscribed() -> bool:
            counts = map(self.node.count_subscribers, ("/joint_states", "/wrench"))
            return min(counts) > len(self._learners)  # the monitor subscribes too

        self.require(subscribed, START_LIMIT, "the learners to subscribe")
        for node in self._learners:  # found now, so that set_learning later reaches all at once
            self.services.find(SetBool, f"/{node}/set_learning", START_LIMIT)
        for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
            self._call(ChangeState, [SIMULATION], "change_state", transition=Transition(id=transition))
            self.pause(DISCOVERY_TIME)
        self.require(self.monitor.complete, ANSWER_LIMIT, "the first predictions")
        self.services.find(SetTask, f"/{SIMULATION}/set_task", START_LIMIT)

    def set_learning(self, learning: bool) -> int:
        """Have all learners learn, or only predict; return the stamp [ns] of the last joint state before the change."""
        self.monitor.poll()
        before = self.monitor.joint_states.last_stamp
        self._call(SetBool, self._learners, "set_learning", data=learning)
        return before

    def set_task(self, task: str) -> None:
        self._call(SetTask, [SIMULATION], "set_task", task=task)

    def follow(self, seconds: float, show: Callable[[float], str]) -> None:
        """Wait for some simulated seconds; `show` gets those that have passed and returns a line about the progress."""
        start = self.monitor.joint_states.last_stamp

        def passed() -> float:
            return (self.monitor.joint_states.last_stamp - start) * 1e-9

        self.wait(lambda: passed() >= seconds, SLACK * seconds + SPARE, lambda: show(passed()))

    def _call(self, kind: Any, nodes: Iterable[str], name: str, **fields: Any) -> None:
        """Call a service of several nodes at once, and wait until all have answered."""
        services = [f"/{node}/{name}" for node in nodes]
        futures = [self.services.ask(kind, service, START_LIMIT, **fields) for service in services]
        for service, future in zip(services, futures, strict=True):
            answer = self.services.answer(service, future)
            if not answer.success:
                text = f"{service} refused {fields}: {getattr(answer, 'message', '')}".rstrip(": ")
                raise IcubLearningError(text, name=name, value=fields)
