"""Measure whether the node predicts for every joint state of a robot in another process, how late, and at what cost."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.clients.arm_session import NODES, SIMULATION, ArmSession, commands
from icub_learning.clients.polling import stream_of, timing_of
from icub_learning.clients.processes import Processes, RosDomain
from icub_learning.nodes.common.qos import DISCOVERY_TIME

SECONDS = 60.0
TASK, RATE = "circle_xy", 200.0  # motion of the arm; rate of joint states and wrenches [Hz]


def run(quick: bool) -> Result:
    """Follow each estimator's node for a minute (quick: one of them for ten seconds)."""
    rows = []
    with RosDomain() as domain, tempfile.TemporaryDirectory() as logs:
        os.environ.update(ROS_DOMAIN_ID=str(domain.number), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        for short in tqdm(("SP",) if quick else tuple(NODES), unit="node"):
            found, cost = follow(short, 10.0 if quick else SECONDS, Path(logs))
            latency = found["latency_to_publication_s"]
            rows.append(
                {
                    "node": short,
                    "joint states": found["joint_states"],
                    "without prediction": found["joint_states_without_prediction"],
                    "twice": found["predicted_twice"],
                    **{f"{key} ms": round(1e3 * latency[key], 2) for key in ("p50", "p99", "max")},
                    "on a core %": round(100 * cost["node"][0], 1),
                    "waiting for one %": round(100 * cost["node"][1], 1),
                    "simulation %": round(100 * cost["simulation"][0], 1),
                }
            )
    remarks = [
        f"the simulated iCub publishes joint states and wrenches at {RATE:g} Hz; the node predicts and learns.",
        "ms: from the publication of a joint state to that of its prediction.",
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.",
    ]
    return Result(rows, remarks)


def follow(
    short: str, seconds: float, logs: Path, others: Mapping[str, int] = MappingProxyType({})
) -> tuple[dict[str, Any], dict[str, tuple[float, float]]]:
    """Run the simulation and one estimator's node in the ROS domain of this process.

    Args:
        short: short name of the estimator.
        seconds: simulated time.
        logs: folder for the logs.
        others: process ids of further processes whose time is measured, by name.

    Returns:
        The figures of `timing_of` with the number of joint states; and for "simulation", "node" and the others the
        shares of the time in which they ran on a core and waited for one.
    """
    names = {"simulation": SIMULATION, "node": NODES[short]}
    lines = commands(TASK, RATE)
    with Processes(logs) as processes:
        for name in names.values():
            processes.start(name, lines[name], {"OMP_NUM_THREADS": "1"})
        with ArmSession(processes, {short: names["node"]}, lambda _: None) as session:
            session.start()
            pids = {which: processes.pid(name) for which, name in names.items()} | dict(others)
            before = {which: schedule(pid) for which, pid in pids.items()}
            session.follow(seconds, lambda _: "")
            after = {which: schedule(pid) for which, pid in pids.items()}
            session.pause(DISCOVERY_TIME)  # messages in flight are recorded too
            monitor = session.monitor
    joint_states, predictions = monitor.joint_states.arrays()[0], monitor.predictions[short].arrays()[0]
    found = timing_of(joint_states, predictions)
    found["joint_states"] = found["predictions"] + found["joint_states_without_prediction"] - found["predicted_twice"]
    found["joint_states_lost_here"] = stream_of(joint_states)["lost"]
    parts = {
        which: [(end - start) / seconds for start, end in zip(before[which], after[which], strict=True)]
        for which in pids
    }
    return found, {which: (on, waiting) for which, (on, waiting) in parts.items()}


def schedule(pid: int) -> tuple[float, float]:
    """Return the time that a process ran on a core, and that its present threads waited for one [s] (Linux)."""
    lines = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    used = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]  # ticks in user and in system mode
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK"), sum(int(line[1]) for line in lines) * 1e-9
