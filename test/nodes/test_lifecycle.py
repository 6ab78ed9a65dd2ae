"""Nodes that answer messages do so while they are active, and only then, however often they are activated."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from helpers.camera_probe import CameraProbe
from helpers.driven_arm import SETTINGS as ARM
from helpers.node_probe import PERIOD, START, NodeProbe
from helpers.recognition_probe import RecognitionProbe
from helpers.robots import RIGHT_ARM
from lifecycle_msgs.msg import Transition

QUICK = {"report_period": 0.05}
STILL = {"position": np.zeros(7), "velocity": np.zeros(7)}
CASES = {
    "inverse_dynamics": (
        lambda: NodeProbe(RIGHT_ARM), lambda arm, k: arm.state(START + k * PERIOD, **STILL), "predictions", ARM),
    "object_recognition": (RecognitionProbe, lambda probe, _: probe.publish(np.ones(8)), "recognitions", QUICK),
    "cnn_features": (CameraProbe, lambda eye, k: eye.show(np.full((100, 100, 3), k, np.uint8), k), "features", QUICK),
}  # fmt: skip
ENDS = {"inverse_dynamics": ("DEACTIVATE", "CLEANUP", "UNCONFIGURED_SHUTDOWN")}


@pytest.mark.parametrize("name", CASES)
def test_messages_are_answered_while_the_node_is_active(node_here, name):
    make, send, answers, settings = CASES[name]
    node, sent = node_here(name, autostart=False, **settings), 0
    with make() as probe:

        def change(*words):
            for word in words:
                assert probe.change(getattr(Transition, f"TRANSITION_{word}")), word

        def answered(count):
            """Send one more message; assert that `count` have then been answered in all."""
            nonlocal sent
            sent += 1
            send(probe, sent)
            probe.report(lambda values: values["messages received"] == str(sent), f"of message {sent}")
            probe.until(lambda: len(getattr(probe, answers)) >= count, f"answer {count}")
            assert len(getattr(probe, answers)) == count

        assert not probe.change(Transition.TRANSITION_ACTIVATE)
        change("CONFIGURE")
        probe.connect()
        answered(0)
        assert probe.message == "inactive"
        for count in (1, 2):
            change("ACTIVATE")
            answered(count)
            change("DEACTIVATE")
            answered(count)
        change("ACTIVATE")
        probe.report(lambda _: probe.level == DiagnosticStatus.STALE, "while nothing arrives")
        assert probe.message.startswith("no ") and probe.message.endswith(" arrive")
        change("DEACTIVATE", "CLEANUP", "CONFIGURE", "ACTIVATE")
        probe.connect()
        answered(3)
        change(*ENDS.get(name, ("ACTIVE_SHUTDOWN",)))
    assert node.wait() == 0 and "Traceback" not in node.output
