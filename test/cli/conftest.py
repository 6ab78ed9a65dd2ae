"""Commands that listen until Ctrl-C, without a process of their own."""

import signal
from functools import partialmethod

import pytest

from icub_learning.recording.collector import Collector


@pytest.fixture
def interrupted_after(monkeypatch):
    """Have the next listener of this process take so many joint states and wrenches, then Ctrl-C."""

    def wait_for(joint_states, wrenches):
        stop = iter([signal.SIGINT])

        def added(self, *args, add):
            add(self, *args)
            if self.n_joint_states >= joint_states and self.n_wrenches >= wrenches and (number := next(stop, None)):
                signal.raise_signal(number)

        for name in ("add_joint_state", "add_wrench"):
            monkeypatch.setattr(Collector, name, partialmethod(added, add=getattr(Collector, name)))

    return wait_for
