"""The rendering process: a request for an unknown object leaves the object before in the hand."""

from contextlib import closing

import numpy as np
from helpers.waiting import PATIENCE, wait_until

from icub_learning.simulation.objects import eye_process
from icub_learning.simulation.objects.eye_process import EyeProcess


def test_an_unknown_object_leaves_the_one_before_in_the_hand(renderer, monkeypatch):
    monkeypatch.setattr(eye_process, "GRACE_PERIOD", PATIENCE)
    with closing(EyeProcess({"seed": 3, "size": (64, 48)})) as eye:

        def answer(request, argument):
            request(argument)
            return wait_until(lambda: None if (found := eye.answer()) is None else (found,), "an answer")[0]

        assert "nothing" in answer(eye.render, 1.0) and answer(eye.show, "mug") == ""
        before = answer(eye.render, 1.0).copy()
        assert "unicorn" in answer(eye.show, "unicorn")
        np.testing.assert_array_equal(answer(eye.render, 1.0), before)
        eye.close()
        assert answer(eye.show, "mug") == "the rendering process has ended with 0"
        assert (eye.ended, eye.busy, eye.answer()) == (True, False, None)
