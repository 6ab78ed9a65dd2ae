"""The process that renders: its pictures are those of the scene itself, whatever was shown before."""

import time

import numpy as np
import pytest

from icub_learning.simulation.objects.eye_process import EyeProcess


def ask(eye):
    deadline = time.monotonic() + 60.0
    while (answer := eye.answer()) is None:
        assert time.monotonic() < deadline, "no answer"
        time.sleep(0.005)
    return answer


@pytest.fixture
def eye(renderer):
    eye = EyeProcess({"seed": 3, "size": (64, 48)})
    yield eye
    eye.close()


def test_an_unknown_object_leaves_the_one_before_in_the_hand(eye):
    eye.render(1.0)
    assert "nothing" in ask(eye)
    eye.show("mug")
    assert ask(eye) == ""
    eye.render(1.0)
    before = ask(eye).copy()
    eye.show("unicorn")
    assert "unicorn" in ask(eye)
    eye.render(1.0)
    np.testing.assert_array_equal(ask(eye), before)
