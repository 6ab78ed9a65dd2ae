"""A node in the test's own process: it runs all of its code and of ROS, and no process is started and discovered."""

import re
from importlib import import_module
from typing import Any

import pytest
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.signals import SignalHandlerOptions

from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common import spinning
from icub_learning.nodes.common.threads import own_core, scheduling

HERE: "list[NodeHere]" = []  # the node of the running test; its probes share its context and executor
BESIDE: list[Any] = []  # functions that make other nodes in its context, before the node itself is made


class NodeHere:
    """A node with the methods of its `Process`; a probe that takes in messages handles those of the node as well.
    `name` is that of its package below icub_learning.nodes. It leaves priority and cores of the process alone."""

    def __init__(self, name: str, arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd, self._text, self._code, self._patches = capfd, "", 0, pytest.MonkeyPatch()
        self._patches.setattr(scheduling, "apply", lambda *_: ["ordinary scheduling"])
        self._patches.setattr(own_core.OwnCore, "follow", lambda _: "")
        make = import_module(f"icub_learning.nodes.{name}.node").main.args[0]
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
        self._executor: Any = EventsExecutor()
        self._node: Any = None
        HERE.append(self)
        for make_other in BESIDE:
            make_other()
        try:
            self._node = make()
            if not spinning.autostart(self._node):
                self._code = 1
            self._executor.add_node(self._node)
        except IcubLearningError as error:
            self._code, self._text = 1, str(error)

    @property
    def output(self) -> str:
        """All that it has written."""
        self._text += "".join(self._capfd.readouterr())
        return self._text

    def add_node(self, node: Any) -> None:
        """Handle the messages of another node too."""
        self._executor.add_node(node)

    def remove_node(self, node: Any) -> None:
        """Stop handling the messages of another node."""
        self._executor.remove_node(node)

    def spin_once(self, timeout_sec: float) -> None:
        """Handle what has arrived."""
        spinning.spin_once(self._executor, self._node, timeout_sec)

    @property
    def running(self) -> bool:
        """Whether it has started and was not shut down."""
        return self in HERE and not self._code and not spinning.is_finalized(self._node)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Return the first match in its output, which already holds all that its start wrote."""
        found = re.search(pattern, self.output)
        assert found, f"{pattern!r} is not in {self.output!r}"
        return found

    def wait(self) -> int:
        """Return its exit code; it must have failed to start or been shut down."""
        assert not self.running
        return self._code

    def stop(self, _signal: int = 0) -> int:
        """Shut it down, and release all that it made; return its exit code."""
        if self in HERE:
            HERE.remove(self)
            self._patches.undo()
            if self._node is not None:
                if not spinning.is_finalized(self._node):
                    self._node.trigger_shutdown()
                self._code = self._code or self._node.exit_code
                self._executor.remove_node(self._node)
                with scheduling.giving_way():
                    self._node.destroy_node()
            self._executor.shutdown()
            self._node = self._executor = None  # ROS ends a participant with the last reference to it
            rclpy.shutdown()
        return self._code
