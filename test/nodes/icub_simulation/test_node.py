"""The simulation's node over real ROS 2: rates, stamps, clock, truth, services, commands, lifecycle and exit."""

import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("icub_learning_msgs")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.clients.services import Services
from icub_learning.errors import ObjectError, RenderingError
from icub_learning.simulation import find_objects
from icub_learning.simulation.objects import offscreen
from icub_learning_msgs.srv import AttachPayload, SetTask, ShowObject

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NODE = "/icub_simulation"


class Listener:
    """A node in this process that keeps all it hears."""

    def __init__(self) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node("listener", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._services = Services(self.node, self.come)

    def hear(self, kind: type, topic: str, qos: QoSProfile | int = 1000) -> list:
        heard: list = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def come(self, until: Callable[[], bool], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while not until():
            if time.monotonic() >= deadline:
                return False
            self._executor.spin_once(timeout_sec=0.05)
        return True

    def wait(self, until: Callable[[], bool], timeout: float = 30.0) -> None:
        assert self.come(until, timeout), "what was waited for did not come"

    def spin(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.05)

    def call(self, kind: type, service: str, **fields: object):
        return self._services.call(kind, service, takes=20.0, **fields)

    def close(self) -> None:
        self._executor.remove_node(self.node)
        self.node.destroy_node()
        self._context.shutdown()


@pytest.fixture
def listener(ros_domain: int) -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


def nanoseconds(message) -> int:
    stamp = message.clock if isinstance(message, Clock) else message.header.stamp
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def test_publishes_at_its_rate_with_stamps_of_simulated_time(listener: Listener, start_node) -> None:
    states, wrenches = listener.hear(JointState, "/joint_states"), listener.hear(WrenchStamped, "/wrench")
    clock, reports = listener.hear(Clock, "/clock"), listener.hear(DiagnosticArray, "/diagnostics")
    motion = listener.hear(JointTrajectory, f"{NODE}/truth/motion")
    cable = listener.hear(WrenchStamped, f"{NODE}/truth/cable_wrench")
    task = listener.hear(String, f"{NODE}/truth/task", LATCHED)
    node = start_node("icub_simulation", rate=100.0, task="circle_xz", real_time_factor=0.5)
    listener.wait(lambda: len(states) > 100 and len(reports) > 1 and len(cable) > 20)

    assert len(states[0].name) == len(states[0].position) == len(states[0].velocity) == len(states[0].effort) == 7
    assert states[0].name[0] == "r_shoulder_pitch"
    assert wrenches[0].header.frame_id == "r_upper_arm"
    for heard in (states, wrenches, clock):
        steps = np.diff([nanoseconds(message) for message in heard])
        assert (steps >= 10_000_000).all()
        assert (steps % 10_000_000 == 0).all()
    assert nanoseconds(states[0]) > 0
    assert {nanoseconds(state) for state in states[5:-5]} <= {nanoseconds(wrench) for wrench in wrenches}
    assert {nanoseconds(state) for state in states[5:-5]} <= {nanoseconds(tick) for tick in clock}

    truth = {nanoseconds(message): message.points[0] for message in motion}
    pairs = [(state, truth[nanoseconds(state)]) for state in states if nanoseconds(state) in truth]
    assert len(pairs) > 20
    for state, point in pairs:
        np.testing.assert_allclose(state.position, point.positions, atol=1e-4)
        assert len(point.accelerations) == 7
    assert task[-1].data == "circle_xz"
    values = {value.key: value.value for value in reports[-1].status[0].values}
    assert values["real-time factor asked for"] == "0.5"
    assert float(values["simulated time [s]"]) > 0

    assert node.stop(signal.SIGTERM) == 0


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="asks Linux for the scheduling of a process")
def test_a_robot_in_real_time_runs_before_ordinary_processes_and_a_faster_one_does_not(
    listener: Listener, start_node
) -> None:
    permitted = subprocess.run(["chrt", "--fifo", "1", "true"], capture_output=True).returncode == 0
    states = listener.hear(JointState, "/joint_states")
    node = start_node("icub_simulation")
    listener.wait(lambda: len(states) > 5)
    assert os.sched_getscheduler(node.pid) == (os.SCHED_FIFO if permitted else os.SCHED_OTHER)
    faster = Parameter("real_time_factor", value=2.0).to_parameter_msg()
    assert listener.call(SetParameters, f"{NODE}/set_parameters", parameters=[faster]).results[0].successful
    listener.wait(lambda: os.sched_getscheduler(node.pid) == os.SCHED_OTHER)


def test_services_change_task_and_payload_or_say_why_not(listener: Listener, start_node) -> None:
    tasks = listener.hear(String, f"{NODE}/truth/task", LATCHED)
    payloads = listener.hear(InertiaStamped, f"{NODE}/truth/payload", LATCHED)
    wrenches = listener.hear(WrenchStamped, "/wrench")
    start_node("icub_simulation", task="hold", noise=0.0, real_time_factor=2.0)
    listener.wait(lambda: bool(tasks and payloads and wrenches))

    answer = listener.call(SetTask, f"{NODE}/set_task", task="dance")
    assert not answer.success
    assert "circle_xy" in answer.message
    assert listener.call(SetTask, f"{NODE}/set_task", task="circle_xy").success
    listener.wait(lambda: tasks[-1].data == "circle_xy")

    for mass, position in ((-1.0, [0.0] * 3), (float("nan"), [0.0] * 3), (0.5, [0.0, float("inf"), 0.0])):
        answer = listener.call(AttachPayload, f"{NODE}/attach_payload", mass=mass, position=position)
        assert not answer.success
        assert answer.message
    assert payloads[-1].inertia.m == 0.0
    assert listener.call(SetTask, f"{NODE}/set_task", task="hold").success
    assert listener.call(AttachPayload, f"{NODE}/attach_payload", mass=0.5, position=[0.0, 0.0, 0.03]).success
    listener.wait(lambda: payloads[-1].inertia.m == 0.5)
    assert payloads[-1].header.frame_id == "r_hand_dh_frame"


def point(positions: list[float], seconds: int, **fields: list[float]) -> JointTrajectoryPoint:
    made = JointTrajectoryPoint(positions=positions, **fields)
    made.time_from_start.sec = seconds
    return made


def test_trajectories_are_followed_and_bad_ones_refused(listener: Listener, start_node) -> None:
    tasks = listener.hear(String, f"{NODE}/truth/task", LATCHED)
    states, reports = listener.hear(JointState, "/joint_states"), listener.hear(DiagnosticArray, "/diagnostics")
    publisher = listener.node.create_publisher(JointTrajectory, "/joint_trajectory", 10)
    start_node("icub_simulation", real_time_factor=2.0, rate=50.0)
    listener.wait(lambda: bool(states and tasks) and publisher.get_subscription_count() > 0)
    bad = [
        JointTrajectory(),
        JointTrajectory(joint_names=["nose"], points=[point([0.0], 1)]),
        JointTrajectory(joint_names=["r_elbow"], points=[point([1.0], 2), point([1.1], 1)]),
        JointTrajectory(joint_names=["r_elbow"], points=[point([float("nan")], 1)]),
        JointTrajectory(joint_names=["r_elbow"], points=[point([9.0], 1)]),
        JointTrajectory(joint_names=["r_elbow"], points=[point([1.0, 2.0], 1)]),
        JointTrajectory(joint_names=["r_elbow"], points=[point([1.0], 1, velocities=[0.0]), point([1.0], 2)]),
    ]
    for message in bad:
        publisher.publish(message)

    def refused() -> int:
        values = {value.key: value.value for value in reports[-1].status[0].values} if reports else {}
        return int(values.get("refused commands", 0))

    listener.wait(lambda: refused() == len(bad))
    assert tasks[-1].data == "circle_xy"
    publisher.publish(JointTrajectory(joint_names=["r_elbow"], points=[point([1.2], 1), point([0.9], 2)]))
    listener.wait(lambda: tasks[-1].data == "trajectory")
    listener.wait(lambda: abs(states[-1].position[3] - 0.9) < 1e-3 and abs(states[-1].velocity[3]) < 1e-2)


def test_lifecycle_pauses_and_goes_on(listener: Listener, start_node) -> None:
    states = listener.hear(JointState, "/joint_states")
    node = start_node("icub_simulation", autostart=False, rate=50.0)

    def change(transition: int) -> bool:
        request = Transition(id=transition)
        return listener.call(ChangeState, f"{NODE}/change_state", transition=request).success

    assert change(Transition.TRANSITION_CONFIGURE)
    assert not states
    assert change(Transition.TRANSITION_ACTIVATE)
    listener.wait(lambda: len(states) > 10)
    assert change(Transition.TRANSITION_DEACTIVATE)
    listener.spin(0.5)  # what was on its way arrives
    count = len(states)
    listener.spin(0.5)
    assert len(states) == count
    last = nanoseconds(states[-1])
    assert change(Transition.TRANSITION_ACTIVATE)
    listener.wait(lambda: len(states) > count + 10)
    stamps = [nanoseconds(state) for state in states]
    assert all(later > earlier for earlier, later in itertools.pairwise(stamps))
    assert stamps[count] - last == 20_000_000  # simulated time stood still
    assert change(Transition.TRANSITION_DEACTIVATE)
    assert change(Transition.TRANSITION_CLEANUP)
    assert change(Transition.TRANSITION_CONFIGURE)
    assert node.stop(signal.SIGINT) == 0


@pytest.mark.parametrize(
    ("parameters", "part"),
    [({"rate": 300.0}, "a divisor of 1000"), ({"task": "dance"}, "one of circle_xy"), ({"noise": -1.0}, "within"),
     ({"seed": -3}, "within"), ({"side": "both"}, "right, left"), ({"image_width": 5}, "within"),
     ({"field_of_view": 0.0}, "within"), ({"image_rate": -1.0}, "within")],
)  # fmt: skip
def test_bad_parameter_ends_the_start_with_one_line(start_node, parameters: dict, part: str) -> None:
    node = start_node("icub_simulation", **parameters)
    assert node.wait(30.0) == 1
    lines = [line for line in node.output.splitlines() if line.strip()]
    assert len(lines) == 1
    assert next(iter(parameters)) in lines[0]
    assert part in lines[0]


@pytest.fixture
def renderer() -> None:
    try:
        offscreen.find_backend()
        find_objects()
    except (RenderingError, ObjectError) as error:
        pytest.skip(str(error))


def pixels(message: Image) -> np.ndarray:
    return np.frombuffer(message.data, dtype=np.uint8).reshape(message.height, message.width, 3)


def test_images_show_what_is_asked_for_while_joint_states_keep_coming(
    listener: Listener, start_node, renderer: None
) -> None:
    states, objects = listener.hear(JointState, "/joint_states"), listener.hear(String, f"{NODE}/truth/object", LATCHED)
    node = start_node("icub_simulation", object="mug", image_width=96, image_height=64, image_rate=10.0)
    listener.wait(lambda: len(states) > 20)
    images = listener.hear(Image, "/image")
    listener.wait(lambda: len(images) > 5)
    first = images[-1]
    assert (first.encoding, first.width, first.height, first.step) == ("rgb8", 96, 64, 288)
    assert len(first.data) == 96 * 64 * 3
    assert first.header.frame_id == "l_eye"
    assert pixels(first).std() > 10
    assert objects[-1].data == "mug"

    answer = listener.call(ShowObject, f"{NODE}/show_object", name="soccer_ball")
    assert (answer.success, answer.message) == (True, "showing soccer_ball")
    listener.wait(lambda: objects[-1].data == "soccer_ball")
    for name in ("nose", "x" * 10_000):
        answer = listener.call(ShowObject, f"{NODE}/show_object", name=name)
        assert not answer.success
        assert "duck, teddy, mug" in answer.message
    assert objects[-1].data == "soccer_ball"
    assert listener.call(ShowObject, f"{NODE}/show_object", name="").success
    listener.wait(lambda: objects[-1].data == "")
    count = len(images)
    listener.wait(lambda: len(images) > count + 20)

    for heard, period in ((states, 5_000_000), (images[count:], 100_000_000)):
        stamps = [nanoseconds(message) for message in heard]
        assert all(later > earlier for earlier, later in itertools.pairwise(stamps))
        assert np.median(np.diff(stamps)) == pytest.approx(period, rel=0.2)
    # each shows the instant of a joint state that was published, which may be heard a little later
    shown = {nanoseconds(image) for image in images}
    listener.wait(lambda: nanoseconds(states[-1]) >= max(shown))
    assert shown <= {nanoseconds(state) for state in states}
    assert node.stop(signal.SIGTERM) == 0


def test_without_opengl_the_arm_moves_and_says_what_is_missing(
    listener: Listener, start_node, monkeypatch: pytest.MonkeyPatch, renderer: None
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_DIRS", "/nonexistent")
    images, states = listener.hear(Image, "/image"), listener.hear(JointState, "/joint_states")
    reports = listener.hear(DiagnosticArray, "/diagnostics")
    node = start_node("icub_simulation")
    node.wait_for("no images: no off-screen OpenGL here; install it with: .*apt-get install libegl1")
    answer = listener.call(ShowObject, f"{NODE}/show_object", name="mug")
    assert not answer.success
    assert "libegl1" in answer.message
    count = len(states)
    listener.wait(lambda: len(states) > count + 100)
    assert not images
    listener.wait(lambda: "libegl1" in reports[-1].status[1].message)
    assert node.running
    assert node.output.count("Traceback") == 0


def test_a_renderer_that_dies_is_said_and_replaced(listener: Listener, start_node, renderer: None) -> None:
    images, states = listener.hear(Image, "/image"), listener.hear(JointState, "/joint_states")
    node = start_node("icub_simulation")
    listener.wait(lambda: len(images) > 2)
    (child,) = children(node.pid)
    os.kill(child, signal.SIGKILL)
    node.wait_for("no images: the rendering process has ended")
    count = len(states)
    listener.wait(lambda: len(states) > count + 50)
    assert listener.call(ShowObject, f"{NODE}/show_object", name="duck").success
    count = len(images)
    listener.wait(lambda: len(images) > count + 2)
    (child,) = children(node.pid)
    assert node.stop(signal.SIGINT) == 0
    deadline = time.monotonic() + 10
    while Path("/proc", str(child)).exists():
        assert time.monotonic() < deadline, "the process that renders outlives the node"
        time.sleep(0.05)


def children(process: int) -> list[int]:
    return [int(entry) for entry in Path("/proc", str(process), "task", str(process), "children").read_text().split()]


def test_no_images_where_none_are_wanted(listener: Listener, start_node) -> None:
    node = start_node("icub_simulation", image_rate=0.0)
    answer = listener.call(ShowObject, f"{NODE}/show_object", name="mug")
    assert not answer.success
    assert "image_rate" in answer.message
    assert not children(node.pid)
