"""Measure the delay of predictions with and without saving meanwhile: one node at a time, in pairs of rounds.

A node learns from the simulated arm at 200 Hz, and saves its model every few seconds in one round of each pair. Only
one node runs at a time: of two at once, the one that shares a core with the simulated robot has longer delays, which
hides the difference. The order within a pair alternates, so that a drift of the machine's speed affects both.
The delay runs from the publication of a joint state to that of its prediction, by the clock of the middleware.
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
from tqdm import tqdm

from benchmarks.endurance.children import ARM, node, own_domain
from benchmarks.endurance.soak import schedule
from icub_learning.clients.polling import PolledTopic
from icub_learning.nodes.common.qos import DEEP
from icub_learning.nodes.common.threads.scheduling import giving_way
from icub_learning_msgs.msg import DynamicsPrediction

RATE = 200.0  # [Hz] of joint states and wrenches
WARM_UP = 5.0  # [s] at the start of a round that do not count
START_LIMIT = 90.0  # [s] limit until the first prediction
RESAMPLED = 2000  # bootstrap draws of whole pairs of rounds, for the interval
NODE = "inverse_dynamics"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=30.0, help="of each round")
    parser.add_argument("--pairs", type=int, default=12, help="pairs of rounds, one of each with saving")
    parser.add_argument("--period", type=float, default=5.0, help="autosave_period [s]")
    parser.add_argument("--priority", type=int, default=0, help="real-time priority of all processes; 0: none")


def run(arguments: argparse.Namespace) -> int:
    """Measure; write autosave.json."""
    schedule(arguments.priority)
    delays: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for number in tqdm(range(arguments.pairs), unit="pair"):
        for saving in (number % 2 == 0, number % 2 == 1):
            delays[saving].append(measure(saving, arguments.period, arguments.seconds, arguments.out))
    found: dict[str, Any] = {"autosave period [s]": arguments.period}
    for saving, parts in delays.items():
        name = "on" if saving else "off"
        p50, p99, largest = 1e3 * np.percentile(np.concatenate(parts), (50, 99, 100))
        found[f"autosave {name} [ms]"] = {"p50": round(p50, 3), "p99": round(p99, 3), "max": round(largest, 3)}
        found[f"p99 of the rounds, autosave {name} [ms]"] = [
            round(1e3 * float(np.percentile(one, 99)), 3) for one in parts
        ]
    found["difference of p99 [%]"] = round(100.0 * difference(delays[True], delays[False]), 2)
    generator = np.random.default_rng(0)
    draws = [
        difference([delays[True][one] for one in pairs], [delays[False][one] for one in pairs])
        for pairs in generator.integers(arguments.pairs, size=(RESAMPLED, arguments.pairs))
    ]
    found["its 90 % interval over pairs [%]"] = [round(100.0 * float(one), 2) for one in np.percentile(draws, (5, 95))]
    print(json.dumps(found, indent=1))
    (arguments.out / "autosave.json").write_text(json.dumps(found, indent=1))
    return 0


def difference(on: list[np.ndarray], off: list[np.ndarray]) -> float:
    """Return by what share the p99 of all delays in `on` exceeds that of those in `off`."""
    return float(np.percentile(np.concatenate(on), 99) / np.percentile(np.concatenate(off), 99) - 1.0)


def measure(saving: bool, period: float, seconds: float, out: Path) -> np.ndarray:
    """Return the delays [s] of the predictions of a node that saves its model, or does not."""
    with TemporaryDirectory() as folder, own_domain():
        settings: dict[str, Any] = {"joints": list(ARM), "models_folder": folder}
        if saving:
            settings |= {"model_file": "arm", "autosave_period": period}
        robot: dict[str, Any] = {"image_rate": 0.0, "rate": RATE, "task": "random"}
        children = [
            node("inverse_dynamics", out / "autosave_node.log", NODE, **settings),
            node("icub_simulation", out / "autosave_simulation.log", **robot),
        ]
        context = rclpy.Context()
        rclpy.init(context=context)
        listener = rclpy.create_node("autosave", context=context)
        states = PolledTopic(listener, JointState, "/joint_states", DEEP)
        predictions = PolledTopic(listener, DynamicsPrediction, f"/{NODE}/prediction", DEEP)

        def follow(until: Any) -> None:
            while not until():
                states.poll()
                predictions.poll()
                time.sleep(0.01)

        limit = time.monotonic() + START_LIMIT
        follow(lambda: len(predictions.series) or time.monotonic() > limit)
        end = time.monotonic() + WARM_UP + seconds
        follow(lambda: time.monotonic() > end)
        saved = [path for path in Path(folder).rglob("arm*") if path.is_file()]
        for child in children:
            child.end()
        with giving_way():
            listener.destroy_node()
        rclpy.shutdown(context=context)
    if saving != bool(saved):
        raise AssertionError(f"saving was {'on' if saving else 'off'}, but the folder holds {len(saved)} models")
    heard, made = states.series.arrays()[0], predictions.series.arrays()[0]
    _, first, second = np.intersect1d(heard[:, 0], made[:, 0], return_indices=True)
    later = made[second, 1] > made[0, 1] + WARM_UP * 1e9
    return (made[second, 1] - heard[first, 1])[later] * 1e-9
