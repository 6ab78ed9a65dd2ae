"""What the node adds to the middleware: round trips through it beside those through a bare echo node."""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.echo_node import TOPIC
from benchmarks.report import Result
from icub_learning.clients.processes import Processes
from icub_learning.clients.ros_domain import RosDomain
from icub_learning.launching.commands import node_command

RATES = (100, 200, 500, 1000)  # [Hz]
P99_BOUND, BOUND_UP_TO = 1.3, 500  # of the node's p99 over the echo node's; largest rate [Hz] that it holds for
SECONDS = 10.0  # of each node, rate and turn
TURNS = 3  # in which the nodes take turns
N_JOINTS = 32
N_FEATURES = 560
JOINTS = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow",
          "r_wrist_prosup", "r_wrist_pitch", "r_wrist_yaw")  # fmt: skip
WARM_UP = 400  # samples before the first one that counts: the learner then knows noise and bandwidth of the motion
LAST_ANSWERS = 0.5  # [s] to wait for


def run(quick: bool) -> Result:
    """All rates (quick: one turn of two rates, three seconds each)."""
    rates, turns, seconds = ((200, 1000), 1, 3.0) if quick else (RATES, TURNS, SECONDS)
    trips: dict[tuple[str, int], list[np.ndarray]] = {}
    lost: dict[tuple[str, int], int] = {}
    with RosDomain() as domain, tempfile.TemporaryDirectory() as logs:
        os.environ.update(ROS_DOMAIN_ID=str(domain.number), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        for turn in tqdm(range(turns), unit="turn"):
            for rate in rates:
                for name in ("echo", "node"):
                    with Processes(Path(logs, f"{name}-{rate}-{turn}")) as processes:
                        processes.start(name, COMMANDS[name](), {"OMP_NUM_THREADS": "1"})
                        found = _drive(ANSWERS[name], rate, seconds, processes.check)
                    trips.setdefault((name, rate), []).append(found[~np.isnan(found)])
                    lost[name, rate] = lost.get((name, rate), 0) + int(np.isnan(found).sum())
    rows = [_row(rate, trips, lost) for rate in rates]
    remarks = [
        f"round trip of a joint state of {N_JOINTS} joints between two processes, {turns} turns of {seconds:g} s each; "
        "'node' answers with ~/predicted_wrench.",
        f"The node learns from each ({N_FEATURES} random features, 7 joints, semiparametric); ms; ratios of the two.",
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.",
    ]
    return Result(rows, remarks)


def _echo_command() -> list[str]:
    return [sys.executable, "-m", "benchmarks.echo_node"]


def _node_command() -> list[str]:
    given = {"urdf": "icub", "joints": JOINTS, "sensor": "r_arm_ft_sensor", "n_random_features": N_FEATURES}
    return node_command("inverse_dynamics", parameters={**given, "output": "wrench"})


COMMANDS: dict[str, Callable[[], list[str]]] = {"echo": _echo_command, "node": _node_command}
ANSWERS = {"echo": TOPIC, "node": "/inverse_dynamics/predicted_wrench"}


def _drive(topic: str, rate: int, seconds: float, check: Callable[[], None]) -> np.ndarray:
    """Publish joint states and wrenches at `rate`; return the round trip of each joint state [s], nan if none came."""
    import rclpy
    from geometry_msgs.msg import WrenchStamped
    from rclpy.experimental import EventsExecutor
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState

    from icub_learning.nodes.common.conversions import doubles, set_stamp, set_wrench, stamp_to_ns

    rclpy.init(args=[])
    node = rclpy.create_node("driver")
    states, wrenches = (
        node.create_publisher(kind, name, QoSProfile(depth=10))
        for kind, name in ((JointState, "joint_states"), (WrenchStamped, "wrench"))
    )
    answered: dict[int, float] = {}
    sent: dict[int, float] = {}

    def answer(message: Any) -> None:
        answered.setdefault(stamp_to_ns(message.header.stamp), time.perf_counter())

    node.create_subscription(JointState if topic == TOPIC else WrenchStamped, topic, answer, QoSProfile(depth=100))
    executor = EventsExecutor()
    executor.add_node(node)
    state, wrench, first = JointState(name=_joint_names()), WrenchStamped(), time.time_ns()
    period = 1.0 / rate

    def publish_state(k: int) -> int:
        t = k * period
        q = np.sin(t * (1 + 0.1 * np.arange(N_JOINTS)))
        stamp = first + round(k * period * 1e9)
        set_stamp(state.header.stamp, stamp)
        state.position, state.velocity = doubles(q), doubles(np.cos(t * (1 + 0.1 * np.arange(N_JOINTS))))
        sent[stamp] = time.perf_counter()
        states.publish(state)
        return stamp

    def publish_wrench(k: int) -> None:
        """Half a period later, as sensors of their own send: the answer must not wait for this message."""
        set_stamp(wrench.header.stamp, first + round(k * period * 1e9))
        set_wrench(wrench.wrench, 10 * np.sin(k * period * (1 + 0.1 * np.arange(6))))
        wrenches.publish(wrench)

    def follow(begin: int, count: int) -> list[int]:
        stamps, start = [], time.perf_counter()
        for half in range(2 * count):
            due = start + half * period / 2
            while (left := due - time.perf_counter()) > 0:
                executor.spin_once(timeout_sec=left)
            k = begin + half // 2
            if half % 2:
                publish_wrench(k)
            else:
                stamps.append(publish_state(k))
        return stamps

    try:
        k, limit = 0, time.monotonic() + 60.0
        while not answered:  # until the other process is there
            check()
            if time.monotonic() > limit:
                raise RuntimeError(f"no answer on {topic}")
            k += len(follow(k, 20))
        k += len(follow(k, WARM_UP))
        stamps = follow(k, round(seconds * rate))
        end = time.perf_counter() + LAST_ANSWERS
        while time.perf_counter() < end:
            executor.spin_once(timeout_sec=0.05)
    finally:
        executor.remove_node(node)
        node.destroy_node()
        rclpy.try_shutdown()
    return np.array([answered.get(stamp, np.nan) - sent[stamp] for stamp in stamps])


def _joint_names() -> list[str]:
    """The arm's joints and others of the same robot, in the order of its description."""
    from icub_learning.dynamics import WrenchRegressor
    from icub_learning.robots import find_urdf

    known = WrenchRegressor.from_urdf(find_urdf("icub"), JOINTS, "r_arm_ft_sensor").known_joints
    others = [name for name in known if name not in JOINTS]
    return [*others[: N_JOINTS - len(JOINTS)], *JOINTS]


def _row(rate: int, trips: dict[tuple[str, int], list[np.ndarray]], lost: dict[tuple[str, int], int]) -> dict[str, Any]:
    row: dict[str, Any] = {"rate, Hz": rate}
    spread = {}
    for name in ("echo", "node"):
        spread[name] = np.percentile(np.concatenate(trips[name, rate]), (50, 99, 100)) * 1e3
        for key, value in zip(("p50", "p99", "max"), spread[name], strict=True):
            row[f"{name} {key}"] = round(float(value), 3)
        row[f"{name} lost"] = lost[name, rate]
    row["p50 ratio"], row["p99 ratio"] = (round(float(x), 2) for x in (spread["node"] / spread["echo"])[:2])
    kept = "yes" if row["p99 ratio"] <= P99_BOUND else "NO"
    row[f"p99 within {P99_BOUND}"] = kept if rate <= BOUND_UP_TO else "-"
    return row
