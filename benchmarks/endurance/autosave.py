"""The delay of predictions with and without saving meanwhile: two equal nodes at once, on the same joint states.

Both nodes learn from the simulated arm at 200 Hz; one of them saves its model all the time. They run side by side and
change roles, so that whatever else the machine does concerns both alike. The delay runs from the publication of a joint
state to that of its prediction, by the clock of the middleware.
"""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import rclpy
from sensor_msgs.msg import JointState

from benchmarks.endurance.children import ARM, node, own_domain
from benchmarks.endurance.soak import schedule
from icub_learning.clients.polling import PolledTopic
from icub_learning.nodes.common.qos import DEEP
from icub_learning_msgs.msg import DynamicsPrediction

RATE = 200.0  # [Hz]
WARM_UP = 5.0  # [s] that do not count
NODES = ("first", "second")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=60.0, help="of each of the rounds")
    parser.add_argument("--rounds", type=int, default=4, help="in every other one the second node saves")
    parser.add_argument("--period", type=float, default=60.0, help="autosave_period [s]")
    parser.add_argument("--priority", type=int, default=0, help="real-time priority of all processes; 0: none")


def run(arguments: argparse.Namespace) -> int:
    """Measure; write autosave.json."""
    schedule(arguments.priority)
    delays: dict[str, list[np.ndarray]] = {"on": [], "off": []}
    for number in range(arguments.rounds):
        saving = NODES[number % 2]
        for name, values in measure(saving, arguments.period, arguments.seconds, arguments.out).items():
            delays["on" if name == saving else "off"].append(values)
    found: dict[str, Any] = {"autosave period [s]": arguments.period}
    for name, parts in delays.items():
        p50, p99, largest = 1e3 * np.percentile(np.concatenate(parts), (50, 99, 100))
        found[f"autosave {name} [ms]"] = {"p50": round(p50, 3), "p99": round(p99, 3), "max": round(largest, 3)}
        found[f"p99 of the rounds, autosave {name} [ms]"] = [
            round(1e3 * float(np.percentile(one, 99)), 3) for one in parts
        ]
    ratio = found["autosave on [ms]"]["p99"] / found["autosave off [ms]"]["p99"] - 1.0
    found["difference of p99 [%]"] = round(100.0 * ratio, 2)
    print(json.dumps(found, indent=1))
    (arguments.out / "autosave.json").write_text(json.dumps(found, indent=1))
    return 0


def measure(saving: str, period: float, seconds: float, out: Path) -> dict[str, np.ndarray]:
    """Return the delays [s] of both nodes, of which `saving` saves."""
    with TemporaryDirectory() as folder, own_domain():
        settings = {"joints": list(ARM), "models_folder": folder}
        kept = {"model_file": "arm", "autosave_period": period}
        children = [
            node("inverse_dynamics", out / f"autosave_{name}.log", name, **settings, **(kept if name == saving else {}))
            for name in NODES
        ]
        children.append(
            node("icub_simulation", out / "autosave_simulation.log", image_rate=0.0, rate=RATE, task="random")
        )
        context = rclpy.Context()
        rclpy.init(context=context)
        listener = rclpy.create_node("autosave", context=context)
        states = PolledTopic(listener, JointState, "/joint_states", DEEP)
        predictions = {name: PolledTopic(listener, DynamicsPrediction, f"/{name}/prediction", DEEP) for name in NODES}
        topics = (states, *predictions.values())

        def follow(until: Any) -> None:
            while not until():
                for topic in topics:
                    topic.poll()
                time.sleep(0.01)

        started = time.monotonic()
        follow(lambda: all(len(topic.series) for topic in topics) or time.monotonic() > started + 90.0)
        begin = time.monotonic()
        follow(lambda: time.monotonic() > begin + WARM_UP + seconds)
        for child in children:
            child.end()
        times = states.series.arrays()[0]
        delays = {}
        for name, topic in predictions.items():
            mine = topic.series.arrays()[0]
            _, first, second = np.intersect1d(times[:, 0], mine[:, 0], return_indices=True)
            later = mine[second, 1] > mine[0, 1] + WARM_UP * 1e9
            delays[name] = (mine[second, 1] - times[first, 1])[later] * 1e-9
        listener.destroy_node()
        rclpy.shutdown(context=context)
    return delays
