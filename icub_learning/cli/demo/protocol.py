"""The protocol of 8.4.3, live: learn circles in XY, change over without learning, then meet circles in XZ."""

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.experimental import EventsExecutor
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool

from icub_learning.cli.demo.monitor import Monitor
from icub_learning.clients.processes import Processes
from icub_learning.clients.services import Services
from icub_learning.errors import IcubLearningError
from icub_learning_msgs.srv import SetTask

# [s] of simulated time; the simulation changes over at 0.7 rad/s, which from one circle to the other takes 2.0 to 3.5 s
CHANGEOVER = 4.0
POLL_PERIOD = 0.02  # [s]; the middleware keeps what comes in between
START_LIMIT = 40.0  # [s] for the processes to come up
ANSWER_LIMIT = 10.0  # [s] for a first prediction
SETTLING = 0.5  # [s] for publishers and subscribers to find each other, and for last messages to arrive
SLACK, SPARE = 1.2, 5.0  # a phase takes at most so many times its seconds and [s] more, where the simulation is slow


class Protocol:
    """Leads the processes through the protocol; a context, because it needs ROS.

    Args:
        processes: that must run all the time.
        nodes: node name of each estimator, by its short name.
        simulation: node name of the simulation, which has not been configured.
        show: is given a line that says where things are.
    """

    def __init__(
        self, processes: Processes, nodes: dict[str, str], simulation: str, show: Callable[[str], None]
    ) -> None:
        self._processes = processes
        self._learners = tuple(nodes.values())
        self._simulation = simulation
        self._show = show
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self.monitor = Monitor(rclpy.create_node("icub_learning_demo_monitor"), nodes)
        self._caller = rclpy.create_node("icub_learning_demo")
        self._executor = EventsExecutor()
        self._executor.add_node(self._caller)
        self._services = Services(self._caller, self._wait)

    def __enter__(self) -> "Protocol":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        rclpy.try_shutdown()

    def start(self) -> None:
        """Let time begin once all listen, so that all learn from the same samples.

        Raises:
            IcubLearningError: a process ended, or is not there in time.
        """
        listeners = len(self._learners) + 1  # this one too

        def all_listen() -> bool:
            topics = ("/joint_states", "/wrench")
            return all(self._caller.count_subscribers(topic) >= listeners for topic in topics)

        self._must(all_listen, START_LIMIT, "the learners to listen")
        for node in self._learners:  # now, so that later all of them change at once
            self._services.find(SetBool, f"/{node}/set_learning", START_LIMIT)
        for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
            self._call(ChangeState, [self._simulation], "change_state", transition=Transition(id=transition))
            self._wait(lambda: False, SETTLING)
        self._must(self.monitor.running, ANSWER_LIMIT, "the first predictions")
        self._services.find(SetTask, f"/{self._simulation}/set_task", START_LIMIT)

    def set_learning(self, learning: bool) -> int:
        """Have all learners learn, or only predict; returns the stamp of the last joint state before [ns]."""
        self.monitor.poll()
        before = self.monitor.joint_states.last_stamp
        self._call(SetBool, self._learners, "set_learning", data=learning)
        return before

    def set_task(self, task: str) -> None:
        """Have the simulation change over to another task."""
        self._call(SetTask, [self._simulation], "set_task", task=task)

    def follow(self, seconds: float, show: Callable[[float], str]) -> None:
        """Go on for some simulated seconds; `show` makes the line to be shown of how many have gone by."""
        states = self.monitor.joint_states
        start = states.last_stamp

        def passed() -> float:
            return (states.last_stamp - start) * 1e-9

        self._wait(lambda: passed() >= seconds, SLACK * seconds + SPARE, lambda: show(passed()))

    def finish(self) -> None:
        """Take in what is still on its way."""
        self._wait(lambda: False, SETTLING)

    def _call(self, kind: Any, nodes: Iterable[str], name: str, **fields: Any) -> None:
        """Ask all nodes at once, and wait until all have done it."""
        services = [f"/{node}/{name}" for node in nodes]
        futures = [self._services.ask(kind, service, START_LIMIT, **fields) for service in services]
        for service, future in zip(services, futures, strict=True):
            answer = self._services.answer(service, future)
            if not answer.success:
                text = f"{service} refused {fields}: {getattr(answer, 'message', '')}".rstrip(": ")
                raise IcubLearningError(text, name=name, value=fields)

    def _must(self, done: Callable[[], bool], limit: float, what: str) -> None:
        if not self._wait(done, limit, lambda: f"waiting for {what}"):
            raise IcubLearningError(f"waited {limit:g} s for {what} in vain; see the logs", name=what)

    def _wait(self, done: Callable[[], bool], limit: float, line: Callable[[], str] | None = None) -> bool:
        """Take messages in until `done`, at most `limit` seconds; whether it is done."""
        end, shown = time.monotonic() + limit, 0.0
        while not done():
            self._executor.spin_once(timeout_sec=POLL_PERIOD)
            self.monitor.poll()
            now = time.monotonic()
            if now >= end:
                return False
            if now - shown >= 0.5:
                shown = now
                self._processes.check()
                if line:
                    self._show(line())
        return True
