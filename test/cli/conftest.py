"""A fixture that sends Ctrl-C to commands that run in the process of the tests."""

import signal
from functools import partialmethod

import pytest

from icub_learning.recording.collector import Collector


@pytest.fixture
def interrupted_after(monkeypatch):
    """Return a function that raises SIGINT once a listener has taken the given numbers of joint states and wrenches."""

    def wait_for(joint_states, wrenches):
        stop = iter([signal.SIGINT])

        def added(self, *args, add):
            add(self, *args)
            if self.n_joint_states >= joint_states and self.n_wrenches >= wrenches and (number := next(stop, None)):
                signal.raise_signal(number)

        for name in ("add_joint_state", "add_wrench"):
            monkeypatch.setattr(Collector, name, partialmethod(added, add=getattr(Collector, name)))

    return wait_for
