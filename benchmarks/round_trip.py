"""Measure what the node adds to the middleware: round trips through it beside those through a bare echo node."""

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.clients import echo
from icub_learning.clients.processes import Processes, RosDomain
from icub_learning.launching.commands import node_command
from icub_learning.nodes.common.threads.scheduling import giving_way
from icub_learning.nodes.inverse_dynamics.robot_description import movable_joints
from icub_learning.robots import find_urdf

RATES = (100, 200, 500, 1000)  # [Hz]
BOUNDS = {"p50": 1.1, "p99": 1.3}  # largest ratios of the node's round trips to the echo node's
LONGEST = 20.0  # [ms] bound of the longest round trip
SECONDS = 20.0  # [s] measured of each node, rate and turn
TURNS = 3  # times that each node is measured at each rate
N_FEATURES = 560
WARM_UP = 400  # samples before the first one that counts: the learner then knows noise and bandwidth of the motion
LAST_ANSWERS = 0.5  # [s] wait for the last answers
# Nodes and their parameters; options that may help are tried at the highest rate alone.
NODES: dict[str, dict[str, Any]] = {"echo": {}, "node": {}, "ordinary": {"realtime_priority": 0}}
AT_HIGHEST: dict[str, dict[str, Any]] = {
    "own core": {"cpu_affinity": [(os.cpu_count() or 1) - 1]},
    "locked": {"lock_memory": True},
    "learns less": {"learning_share": 0.05},
    "half the features": {"n_random_features": N_FEATURES // 2},
    "UDP": {},
}
TRANSPORTS = "FASTDDS_BUILTIN_TRANSPORTS"  # environment variable of Fast DDS


@dataclass(frozen=True)
class Robot:
    """A robot to drive: the number of joints in each message, the joints that are learned, and the rates."""

    output: str
    urdf: str
    n_joints: int
    joints: tuple[str, ...]
    rates: tuple[int, ...]

    @property
    def answers(self) -> str:
        """Topic of the node's predictions."""
        return f"/inverse_dynamics/predicted_{'wrench' if self.output == 'wrench' else 'effort'}"

    def command(self, name: str) -> list[str]:
        """Return the command of one of NODES."""
        if name == "echo":
            return echo.command()
        given = {"urdf": self.urdf, "joints": self.joints, "n_random_features": N_FEATURES, "output": self.output}
        return node_command("inverse_dynamics", parameters={**given, **(NODES | AT_HIGHEST)[name]})

    def names(self) -> list[str]:
        """Return the learned joints, after others of the same robot in the order of its description."""
        others = [name for name in movable_joints(find_urdf(self.urdf)) if name not in self.joints]
        return [*others[: self.n_joints - len(self.joints)], *self.joints]


ROBOTS = (
    Robot(
        "wrench", "icub", 32,
        ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow",
         "r_wrist_prosup", "r_wrist_pitch", "r_wrist_yaw"), RATES),
    Robot("joint_torque", "panda", 7, tuple(f"panda_joint{i}" for i in range(1, 8)), RATES[-1:]),
)  # fmt: skip


def run(quick: bool) -> Result:
    """Measure all rates (quick: one turn of two rates, three seconds each)."""
    turns, seconds = (1, 3.0) if quick else (TURNS, SECONDS)
    cases = [(robot, rate) for robot in ROBOTS for rate in robot.rates if not quick or rate in (200, 1000)]
    runs = [(*case, name) for case in cases for name in NODES]
    runs += [(ROBOTS[0], RATES[-1], name) for name in (() if quick else AT_HIGHEST)]
    trips: dict[tuple[Robot, int, str], list[np.ndarray]] = {}
    usual = os.environ.get(TRANSPORTS, "DEFAULT")
    with RosDomain() as domain, tempfile.TemporaryDirectory() as logs:
        os.environ.update(ROS_DOMAIN_ID=str(domain.number), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        for turn, (robot, rate, name) in tqdm(list(product(range(turns), runs)), unit="run"):
            topic = echo.ANSWERS if name == "echo" else robot.answers
            os.environ[TRANSPORTS] = "UDPv4" if name == "UDP" else usual
            with Processes(Path(logs, f"{name}-{robot.urdf}-{rate}-{turn}")) as processes:
                processes.start(name, robot.command(name), {"OMP_NUM_THREADS": "1"})
                found = _drive(robot, topic, rate, seconds, processes.check)
            trips.setdefault((robot, rate, name), []).append(found)
    os.environ[TRANSPORTS] = usual  # for the benchmarks that follow
    remarks = [
        f"round trip of a joint state between two processes, {turns} turns of {seconds:g} s each, ms; the node answers"
        " with the predicted wrench or efforts; 'ordinary' is the node without real-time priority.",
        f"The node learns ({N_FEATURES} random features, 7 joints, semiparametric, shipped defaults otherwise).",
        f"bounds: p50 and p99 over the echo node's {BOUNDS['p50']} and {BOUNDS['p99']}, longest {LONGEST:g} ms; none is"
        " lost or answered twice.",
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.",
    ]
    return Result([row for case in cases for row in _rows(*case, trips)], remarks)


def _drive(robot: Robot, topic: str, rate: int, seconds: float, check: Callable[[], None]) -> np.ndarray:
    """Publish joint states and measurements at `rate` [Hz]; return the round trip of each joint state [s].

    It is nan for a joint state that was not answered, and inf for one that was answered twice.
    """
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
        stamp = stamp_to_ns(message.header.stamp)
        answered[stamp] = np.inf if stamp in answered else time.perf_counter()

    kind = WrenchStamped if topic.endswith("_wrench") else JointState
    node.create_subscription(kind, topic, answer, QoSProfile(depth=100))
    executor = EventsExecutor()
    executor.add_node(node)
    state, wrench, first = JointState(name=robot.names()), WrenchStamped(), time.time_ns()
    period, frequencies = 1.0 / rate, 1 + 0.1 * np.arange(robot.n_joints)

    def publish_state(k: int) -> int:
        phase = k * period * frequencies
        stamp = first + round(k * period * 1e9)
        set_stamp(state.header.stamp, stamp)
        state.position, state.velocity = doubles(np.sin(phase)), doubles(frequencies * np.cos(phase))
        if robot.output == "joint_torque":
            state.effort = doubles(10 * np.cos(np.sin(phase)))
        sent[stamp] = time.perf_counter()
        states.publish(state)
        return stamp

    def publish_wrench(k: int) -> None:
        """Publish half a period later, as a separate sensor does: the answer must not wait for this message."""
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
            if half % 2 == 0:
                stamps.append(publish_state(k))
            elif robot.output == "wrench":
                publish_wrench(k)
        return stamps

    try:
        k, limit = 0, time.monotonic() + 60.0
        while not answered:  # the other process may still be starting
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
        with giving_way():
            node.destroy_node()
        rclpy.try_shutdown()
    return np.array([answered.get(stamp, np.nan) - sent[stamp] for stamp in stamps])


def _rows(robot: Robot, rate: int, trips: dict[tuple[Robot, int, str], list[np.ndarray]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in NODES | AT_HIGHEST:
        if (robot, rate, name) not in trips:
            continue
        found = np.concatenate(trips[robot, rate, name])
        spread = 1e3 * np.percentile(found[np.isfinite(found)], (50, 99, 99.9, 100))
        row: dict[str, Any] = {"learned": robot.output, "Hz": rate, "node": name}
        row |= dict(zip(("p50", "p99", "p99.9", "longest"), np.round(spread, 3).tolist(), strict=True))
        row |= {"lost": int(np.isnan(found).sum()), "answered twice": int(np.isinf(found).sum())}
        ratios = {key: row[key] / (rows[0] if rows else row)[key] for key in BOUNDS}
        row |= {f"{key} ratio": round(ratio, 2) for key, ratio in ratios.items()}
        kept = all(ratios[key] <= bound for key, bound in BOUNDS.items()) and row["longest"] <= LONGEST
        row["kept"] = "-" if not rows else "yes" if kept and not row["lost"] and not row["answered twice"] else "NO"
        rows.append(row)
    return rows
