"""The simulation's node over real ROS 2: rates, stamps, clock, truth, services, commands, lifecycle and exit."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from helpers.processes import children_of
from helpers.ros_probe import LATCHED, RosProbe
from helpers.waiting import wait_until
from lifecycle_msgs.msg import Transition
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning_msgs.srv import AttachPayload, SetTask, ShowObject

NODE = "/icub_simulation"


@pytest.fixture
def probe(ros_domain: int) -> Iterator[RosProbe]:
    with RosProbe(NODE, "pace") as made:
        yield made


@pytest.fixture
def simulate(node_here) -> Iterator[Callable[..., RosProbe]]:
    """Start the node in this process; return its probe."""
    with ExitStack() as stack:

        def start(**parameters: object) -> RosProbe:
            node_here("icub_simulation", **parameters)
            return stack.enter_context(RosProbe(NODE, "pace"))

        yield start


def stamps_of(messages: list) -> list[int]:
    """Return the stamps [ns] of messages."""
    return [stamp_to_ns(one.clock if isinstance(one, Clock) else one.header.stamp) for one in messages]


def test_publishes_at_its_rate_with_stamps_of_simulated_time(simulate) -> None:
    probe = simulate(rate=20.0, task="circle_xz", real_time_factor=2.0)
    states, wrenches = probe.hear(JointState, "/joint_states"), probe.hear(WrenchStamped, "/wrench")
    clock, motion = probe.hear(Clock, "/clock"), probe.hear(JointTrajectory, f"{NODE}/truth/motion")
    cable = probe.hear(WrenchStamped, f"{NODE}/truth/cable_wrench")
    task, report = probe.hear(String, f"{NODE}/truth/task", LATCHED), probe.report()
    assert report["real-time factor asked for"] == "2"
    assert probe.level == (DiagnosticStatus.WARN if probe.message.startswith("behind") else DiagnosticStatus.OK)
    assert float(report["simulated time [s]"]) > 0
    probe.until(lambda: len(states) > 30 and len(cable) > 20 and task, "30 joint states")
    assert probe.change(Transition.TRANSITION_DEACTIVATE)
    all_of_them = states, wrenches, clock, motion
    probe.until(lambda: len({stamps_of(heard[-1:])[0] for heard in all_of_them}) == 1, "the last ones")
    assert len(states[0].name) == len(states[0].position) == len(states[0].velocity) == len(states[0].effort) == 7
    assert states[0].name[0] == "r_shoulder_pitch" and wrenches[0].header.frame_id == "r_upper_arm"
    first = max(stamps_of(heard)[0] for heard in all_of_them)  # [ns] first stamp heard on all topics
    assert first > 0
    expected = list(range(first, stamps_of(states)[-1] + 1, 50_000_000))
    assert len(expected) > 20
    assert all([stamp for stamp in stamps_of(heard) if stamp >= first] == expected for heard in all_of_them)
    for state, truth in zip(states[-len(expected) :], motion[-len(expected) :], strict=True):
        np.testing.assert_allclose(state.position, truth.points[0].positions, atol=1e-4)
        assert len(truth.points[0].accelerations) == 7
    assert task[-1].data == "circle_xz"


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="asks Linux for the scheduling of a process")
def test_a_robot_in_real_time_runs_before_ordinary_processes_and_a_faster_one_does_not(probe, start_node):
    permitted = subprocess.run(["chrt", "--rr", "1", "true"], capture_output=True).returncode == 0
    states, node = probe.hear(JointState, "/joint_states"), start_node("icub_simulation", realtime_priority=10)
    probe.until(lambda: len(states) > 5, "joint states")
    assert os.sched_getscheduler(node.pid) == (os.SCHED_RR if permitted else os.SCHED_OTHER)
    assert probe.set_parameter("real_time_factor", 2.0).successful
    probe.until(lambda: os.sched_getscheduler(node.pid) == os.SCHED_OTHER, "ordinary scheduling")


def test_tasks_trajectories_payloads_and_unwanted_images_are_taken_or_refused_with_the_reason(simulate):
    before = children_of(os.getpid())
    probe = simulate(real_time_factor=5.0, rate=50.0, task="hold", noise=0.0, image_rate=0.0)
    tasks, states = probe.hear(String, f"{NODE}/truth/task", LATCHED), probe.hear(JointState, "/joint_states")
    payloads = probe.hear(InertiaStamped, f"{NODE}/truth/payload", LATCHED)
    publisher = probe.node.create_publisher(JointTrajectory, "/joint_trajectory", 10)
    probe.matched(publisher, topics=(f"{NODE}/truth/task",))
    probe.until(lambda: tasks and payloads, "task and payload")
    answer = probe.call(ShowObject, "show_object", name="mug")
    assert not answer.success and "image_rate" in answer.message and children_of(os.getpid()) == before
    probe.declined("circle_xy", SetTask, "set_task", task="dance")
    assert probe.call(SetTask, "set_task", task="circle_xy").success
    probe.until(lambda: tasks[-1].data == "circle_xy", "circle_xy")
    point, faster = JointTrajectoryPoint(positions=[0.9]), JointTrajectoryPoint(positions=[1.2], velocities=[0.0])
    point.time_from_start.sec, faster.time_from_start.sec = 2, 1
    bad = [  # the tests of the arm's motions test each reason
        JointTrajectory(), JointTrajectory(joint_names=["nose"], points=[point]),
        JointTrajectory(joint_names=["r_elbow"], points=[faster, point]),  # velocities of one point alone
    ]  # fmt: skip
    for message in bad:
        publisher.publish(message)
    refused = str(2 + len(bad))  # the refused object and dance count, too
    probe.report(lambda values: values["refused commands"] == refused, "of refusals")
    assert tasks[-1].data == "circle_xy"
    publisher.publish(JointTrajectory(joint_names=["r_elbow"], points=[point]))
    probe.until(lambda: tasks[-1].data == "trajectory", "the trajectory")
    probe.until(lambda: abs(states[-1].position[3] - 0.9) < 1e-3 and abs(states[-1].velocity[3]) < 1e-2, "its end")
    probe.declined("mass", AttachPayload, "attach_payload", mass=-1.0, position=[0.0] * 3)
    assert payloads[-1].inertia.m == 0.0 and probe.call(SetTask, "set_task", task="hold").success
    assert probe.call(AttachPayload, "attach_payload", mass=0.5, position=[0.0, 0.0, 0.03]).success
    probe.until(lambda: payloads[-1].inertia.m == 0.5, "the payload")
    assert payloads[-1].header.frame_id == "r_hand_dh_frame"


def test_lifecycle_pauses_and_goes_on(simulate) -> None:
    probe = simulate(autostart=False, rate=20.0)
    states, change = probe.hear(JointState, "/joint_states"), probe.change
    assert change(Transition.TRANSITION_CONFIGURE) and not states and change(Transition.TRANSITION_ACTIVATE)
    probe.until(lambda: len(states) > 3, "joint states")
    assert change(Transition.TRANSITION_DEACTIVATE)
    assert probe.state() == "inactive"  # joint states on their way arrive before the answer
    count = len(states)
    probe.spin(0.2)
    assert len(states) == count and change(Transition.TRANSITION_ACTIVATE)
    probe.until(lambda: len(states) > count + 3, "more joint states")
    stamps = stamps_of(states)
    assert (np.diff(stamps) > 0).all()
    assert stamps[count] - stamps[count - 1] == 50_000_000  # simulated time stood still
    for transition in ("DEACTIVATE", "CLEANUP", "CONFIGURE"):
        assert change(getattr(Transition, f"TRANSITION_{transition}")), transition


def pixels(message: Image) -> np.ndarray:
    return np.frombuffer(message.data, dtype=np.uint8).reshape(message.height, message.width, 3)


def test_a_renderer_that_dies_is_replaced_while_joint_states_keep_coming(probe, start_node, renderer) -> None:
    states = probe.hear(JointState, "/joint_states")
    node = start_node("icub_simulation", rate=20.0, object="mug", image_width=96, image_height=64)
    probe.until(lambda: len(states) > 20, "joint states")
    images = probe.hear(Image, "/image")
    probe.until(lambda: len(images) > 2, "images")
    assert pixels(images[-1]).std() > 10
    probe.declined("duck, teddy, mug", ShowObject, "show_object", name="nose")
    (child,) = children_of(node.pid)
    os.kill(child, signal.SIGKILL)
    node.wait_for("no images: the rendering process has ended")
    count = len(states)
    probe.until(lambda: len(states) > count + 50, "joint states without the process that renders")
    assert probe.call(ShowObject, "show_object", name="duck").success
    count = len(images)
    probe.until(lambda: len(images) > count + 2, "images of another process")
    (child,) = children_of(node.pid)
    assert node.stop(signal.SIGINT) == 0
    wait_until(lambda: not Path("/proc", str(child)).exists(), "the end of the process that renders")


def test_without_opengl_the_arm_moves_and_says_what_is_missing(simulate, monkeypatch, renderer):
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_DIRS", "/nonexistent")
    probe = simulate()
    images, states = probe.hear(Image, "/image"), probe.hear(JointState, "/joint_states")
    reports = probe.hear(DiagnosticArray, "/diagnostics")
    probe.declined("libegl1", ShowObject, "show_object", name="mug")
    count = len(states)
    probe.until(lambda: len(states) > count + 100, "joint states")
    assert not images
    probe.until(lambda: reports and "libegl1" in reports[-1].status[1].message, "a report of what is missing")


class Eye:
    """Stands in for the process that renders: one colour for each object; "nose" is unknown, "lightning" ends it."""

    made: list["Eye"]

    def __init__(self, settings: dict) -> None:
        self.settings, self.ended, self._reply, self.name = settings, False, None, ""
        self.made.append(self)

    busy = property(lambda self: self._reply is not None)

    def answer(self) -> str | np.ndarray | None:
        reply, self._reply = self._reply, None
        return reply

    def show(self, name: str) -> None:
        self.ended, self._reply = name == "lightning", f"no {name}" if name in ("nose", "lightning") else ""
        self.name = self.name if self._reply else name

    def render(self, seconds: float) -> None:
        self._reply = np.full((64, 96, 3), len(self.name), np.uint8)

    def close(self) -> None:
        self.name = "closed"


def test_images_are_those_of_the_object_that_was_asked_for(simulate, monkeypatch) -> None:
    monkeypatch.setattr(Eye, "made", [], raising=False)
    monkeypatch.setattr("icub_learning.nodes.icub_simulation.camera.EyeProcess", Eye)
    given = {"rate": 20.0, "image_rate": 10.0, "real_time_factor": 4.0, "side": "left", "object": "mug"}
    probe = simulate(**given, image_width=96, image_height=64, field_of_view=30.0)
    states, truth = probe.hear(JointState, "/joint_states"), probe.hear(String, f"{NODE}/truth/object", LATCHED)
    reports = probe.hear(DiagnosticArray, "/diagnostics")
    probe.until(lambda: len(states) > 5, "joint states")
    assert not Eye.made  # nobody subscribes to images
    images = probe.hear(Image, "/image")
    probe.until(lambda: len(images) > 5, "images")
    (eye,) = Eye.made
    assert [eye.settings[name] for name in ("side", "size", "field_of_view")] == ["right", (96, 64), 30.0]
    message = images[-1]
    assert (message.width, message.height, message.step, message.encoding) == (96, 64, 288, "rgb8")
    assert message.header.frame_id == "r_eye" and (pixels(message) == len("mug")).all()
    probe.until(lambda: np.median(np.diff(stamps_of(images))[-5:]) == 100_000_000, "images in time after the first")
    probe.until(lambda: stamps_of(states[-1:])[0] >= stamps_of(images)[-1], "the joint state of the last image")
    assert set(stamps_of(images[1:])) <= set(stamps_of(states)) and truth[-1].data == "mug"

    def shown(name: str) -> tuple[bool, str]:
        answer = probe.call(ShowObject, "show_object", name=name)
        return answer.success, answer.message

    assert shown("soccer_ball") == (True, "showing soccer_ball") and shown("nose") == (False, "no nose")
    count = len(images)
    probe.until(lambda: len(images) > count + 1, "images of the ball")
    assert (pixels(images[-1]) == len("soccer_ball")).all() and truth[-1].data == "soccer_ball"
    assert shown("") == (True, "showing the empty hand") and shown("lightning") == (False, "no lightning")
    assert shown("duck") == (True, "showing duck")  # another process renders it
    assert [one.name for one in Eye.made] == ["closed", "duck"]
    (status,) = [one for one in probe.until(lambda: reports and reports[-1].status, "a report") if "image" in one.name]
    assert status.message in ("rendering", "no image has been asked for")
    assert probe.change(Transition.TRANSITION_DEACTIVATE) and shown("mug") == (False, "the node is not active")
