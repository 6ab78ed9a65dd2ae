"""Kill the learning thread of a running node at random moments; predictions must go on with what was learned.

The node gets joint states at 500 Hz, and half a period later wrenches that rigid bodies explain in part. A signal makes
its learning thread end at whatever line it is. No joint state may be left without prediction, the last good state must
be restored within RESTORED seconds, and errors must be what they were. In the end a request must still be answered.
"""

import argparse
import json
import re
import signal
import sys
import time
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from tqdm import tqdm

from benchmarks.endurance.children import ARM, Child, own_domain
from benchmarks.endurance.probe import Probe
from icub_learning.dynamics import WrenchRegressor
from icub_learning.launching.commands import node_command
from icub_learning.nodes.common.conversions import doubles, set_stamp, set_wrench, stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.qos import DEEP
from icub_learning.robots import find_urdf
from icub_learning_msgs.srv import ModelFile

RATE = 500  # [Hz]
BEFORE = 20.0  # [s] of learning before the first kill
APART = (2.5, 4.0)  # [s] least and largest time between two kills
RESTORED = 2.0  # [s] within which what was learned must be back
SAME = 1.05  # largest ratio of the errors after a kill to those before it
# The node with a handler of SIGUSR1: the learning thread raises SystemExit at the next line that it runs.
MORTAL = """
import ctypes, signal, sys, threading
from icub_learning.nodes.inverse_dynamics.node import main
def kill(*_):
    for thread in threading.enumerate():
        if thread.name == "learning":
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
signal.signal(signal.SIGUSR1, kill)
sys.exit(main())
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Kill; write learners.json; return 1 if a bound was broken."""
    log = arguments.out / "learners.log"
    log.unlink(missing_ok=True)
    with TemporaryDirectory() as folder, own_domain(), Probe() as probe:
        settings = {"joints": list(ARM), "report_period": 0.1, "models_folder": folder}
        line = node_command("inverse_dynamics", "", settings)
        with Child([sys.executable, "-c", MORTAL, *line[3:]], log) as child:  # in place of python -m module
            found = _kill(probe, child, arguments.kills, np.random.default_rng(arguments.seed))
    found["tracebacks"] = log.read_text(errors="replace").count("Traceback")
    (arguments.out / "learners.json").write_text(json.dumps(found, indent=1))
    print(json.dumps(found, indent=1))
    good = found["restored"] == found["kills"] and found["longest until restored [s]"] <= RESTORED
    good &= not found["joint states without prediction"] and found["errors after over before"] <= SAME
    return int(not (good and found["saved in the end"]))


class Arm:
    """Publishes an arm's joint states and wrenches in real time, and keeps the errors of what is predicted."""

    def __init__(self, probe: Probe) -> None:
        self._probe, make = probe, probe.node.create_publisher
        self._states, self._wrenches = make(JointState, "joint_states", 10), make(WrenchStamped, "wrench", 10)
        self._regressor = WrenchRegressor.from_urdf(find_urdf("icub"), ARM, "r_arm_ft_sensor")
        self._state, self._wrench = JointState(name=list(ARM)), WrenchStamped()
        self._rng, self._first = np.random.default_rng(0), time.time_ns()
        self.sent: list[np.ndarray] = []
        self.errors: dict[int, float] = {}  # [N] norm of the error of the force, by the number of the joint state
        probe.node.create_subscription(WrenchStamped, "inverse_dynamics/predicted_wrench", self._predicted, DEEP)

    def _predicted(self, message: WrenchStamped) -> None:
        k = round((stamp_to_ns(message.header.stamp) - self._first) * 1e-9 * RATE)
        self.errors[k] = float(np.linalg.norm(wrench_to_array(message.wrench)[:3] - self.sent[k][:3]))

    def move(self, seconds: float) -> None:
        """Publish for some time."""
        begin, start = len(self.sent), time.perf_counter()
        for k in range(begin, begin + round(seconds * RATE)):
            t, rate = k / RATE, np.linspace(1.0, 4.0, len(ARM))
            q, v, a = 0.4 * np.sin(rate * t), 0.4 * rate * np.cos(rate * t), -0.4 * rate**2 * np.sin(rate * t)
            y = self._regressor(q, v, a) @ self._regressor.nominal_parameters + 2.0 * np.sin(3.0 * q[:6])
            self.sent.append(y + 0.05 * self._rng.standard_normal(6))
            stamp = self._first + round(k / RATE * 1e9)
            self._wait(start + (k - begin) / RATE)
            set_stamp(self._state.header.stamp, stamp)
            self._state.position, self._state.velocity = doubles(q), doubles(v)
            self._states.publish(self._state)
            self._wait(start + (k - begin + 0.5) / RATE)
            set_stamp(self._wrench.header.stamp, stamp)
            set_wrench(self._wrench.wrench, self.sent[k])
            self._wrenches.publish(self._wrench)

    def _wait(self, due: float) -> None:
        while (left := due - time.perf_counter()) > 0:
            self._probe.spin(left)


def _kill(probe: Probe, child: Child, number: int, rng: np.random.Generator) -> dict[str, Any]:
    arm = Arm(probe)
    if not probe.until(lambda: probe.node.count_subscribers("joint_states"), 60.0):
        raise RuntimeError(f"the node does not subscribe; see {child.log}")

    def restored() -> int:
        return int(probe.diagnostics.get("inverse_dynamics: stream", {}).get("last good state restored", 0))

    arm.move(BEFORE)
    begin, times, before, after = len(arm.sent), list[float](), list[float](), list[float]()
    for _ in tqdm(range(number), "kills", disable=None):
        known, at = restored(), len(arm.sent)
        before += [arm.errors[k] for k in range(at - RATE, at - RATE // 10) if k in arm.errors]
        child.signal(signal.SIGUSR1)
        killed = time.monotonic()
        while restored() == known and time.monotonic() < killed + 5 * RESTORED:
            arm.move(0.02)
        times.append(time.monotonic() - killed)
        until = killed + float(rng.uniform(*APART))
        arm.move(max(until - time.monotonic(), RESTORED))
        after += [arm.errors[k] for k in range(at, len(arm.sent) - RATE // 10) if k in arm.errors]
    probe.spin(1.0)
    answer = probe.services.call(ModelFile, "/inverse_dynamics/save_model", takes=30.0, path="end")
    numbers = re.findall(r"last good state of (\d+) samples", child.output)
    return {
        "kills": number,
        "restored": restored(),
        "longest until restored [s]": round(max(times), 2),
        "median until restored [s]": round(float(np.median(times)), 2),
        "joint states": len(arm.sent) - begin,
        "joint states without prediction": sum(k not in arm.errors for k in range(begin, len(arm.sent))),
        "errors after over before": round(float(np.sqrt(np.mean(np.square(after)) / np.mean(np.square(before)))), 3),
        "error of the force before a kill [N]": round(float(np.sqrt(np.mean(np.square(before)))), 3),
        "samples known after the first and last kill": [int(numbers[0]), int(numbers[-1])] if numbers else [],
        "saved in the end": bool(answer.success),
    }
