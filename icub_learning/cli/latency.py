"""`icub-learning latency`: how fast and how regularly a running node answers, seen from outside."""

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from icub_learning.cli.common.options import progress_bar
from icub_learning.reporting.tables import add_json_option, add_value, save_figures, table

DESCRIPTION = "Measure latency, period, jitter and losses of a running inverse dynamics node, beside an echo node's."
EXAMPLE = """\
example:
  icub-learning latency --seconds 30
  icub-learning latency --node right_arm_dynamics --joint-states /right_arm/joint_states --json out/latency.json

latency runs from the publication of a joint state to that of its prediction, by the clock of the middleware, and to the
arrival of the prediction here; age runs from the stamp of a joint state, where stamps are of this machine's clock.
The echo node, which this command starts, does no more than send each joint state back: what it takes is the time of the
machine and its middleware, and what the node takes beyond it is the node's own. It and what receives here have the
real-time priority that a controller would have, where permitted."""

PATIENCE = 10.0  # [s] longest wait for a first joint state and a first prediction
POLL = 0.005  # [s] time between two polls of the subscriptions
LARGEST_AGE = 3600.0  # [s] largest age of a stamp; older ones are those of another clock


def add_options(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--node", "inverse_dynamics", "", "NAME")
    add_value(parser, "--joint-states", "joint_states", "", "TOPIC")
    add_value(parser, "--seconds", 10.0, "time to measure", "X", "(0, inf)")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    from icub_learning.clients import echo
    from icub_learning.clients.polling import PolledTopic, Series
    from icub_learning.clients.processes import Processes
    from icub_learning.clients.topics import ros_node
    from icub_learning.errors import IcubLearningError
    from icub_learning.nodes.common.qos import DEEP_BEST_EFFORT, DISCOVERY_TIME

    with (
        ros_node("icub_learning_latency", polled=True) as (node, wait, stopped), tempfile.TemporaryDirectory() as logs,
        Processes(Path(logs)) as processes,
    ):  # fmt: skip

        def polled(kind: type, name: str) -> PolledTopic:
            return PolledTopic(node, kind, name, DEEP_BEST_EFFORT)

        wrenches = polled(WrenchStamped, f"/{args.node}/predicted_wrench")
        efforts = polled(JointState, f"/{args.node}/predicted_effort")
        joint_states, answers = polled(JointState, args.joint_states), polled(JointState, echo.ANSWERS)
        topics = {"joint states": [joint_states], "predictions": [wrenches, efforts], "echo": [answers]}
        processes.start("echo", echo.command(joint_states.name, echo.URGENT), {})

        def missing() -> list[str]:
            return [name for name, some in topics.items() if not any(len(one.series) for one in some)]

        def listen(limit: float, enough: Callable[[], bool] = lambda: False) -> None:
            while time.monotonic() < limit and not stopped() and not enough():
                wait(stopped, POLL)
                for one in chain(*topics.values()):
                    one.poll()

        for seconds in (0.0, 2 * DISCOVERY_TIME):  # discovery holds up publishers: what comes meanwhile does not count
            listen(time.monotonic() + seconds)
            for one in chain(*topics.values()):
                one.series = Series(0)
            listen(time.monotonic() + PATIENCE, lambda: not missing())
            if not stopped() and (lacking := missing()):
                name, names = lacking[0], " or ".join(one.name for one in topics[lacking[0]])
                reason = f"no {name} on {names} within {PATIENCE:g} s; is the node active?"
                raise IcubLearningError(reason, name=name, value=0, bound="at least one")
        start = time.monotonic()
        for second in progress_bar("measured", "s", delay=0.0)(range(1, math.ceil(args.seconds) + 1)):
            listen(start + min(second, args.seconds))
    if missing():
        return 1
    figures = figures_of(*(max((one.series for one in some), key=len).arrays()[0] for some in topics.values()))
    print(text(figures))
    save_figures(args.json, figures)
    return 0


def figures_of(joint_states: Any, predictions: Any, echoes: Any) -> dict[str, Any]:
    """Return latencies, losses, rates and jitter, from stamp, publication and arrival (n, 3) of each message [ns]."""
    import numpy as np

    from icub_learning.clients.polling import regularity_of, timing_of
    from icub_learning.evaluation.metrics import percentiles

    figures = timing_of(joint_states, predictions) | {"echo": timing_of(joint_states, echoes)}
    figures["joint_states"] = len(joint_states)
    for name, times in (("joint_states", joint_states), ("predictions", predictions)):
        figures[f"{name}_regularity"] = regularity_of(times)
    ages = (predictions[:, 1] - predictions[:, 0]) * 1e-9
    figures["age_at_publication_s"] = percentiles(ages) if np.abs(ages).max() < LARGEST_AGE else None
    return figures


def text(figures: dict[str, Any]) -> str:
    columns, echo = ("p50", "p99", "p99.9", "max"), figures["echo"]

    def milliseconds(values: dict[str, float] | None) -> list[str]:
        return [f"{1e3 * values[key]:.3f}" for key in columns] if values else ["-"] * len(columns)

    ratios = [figures["latency_to_arrival_s"][key] / echo["latency_to_arrival_s"][key] for key in columns]
    rows = [
        ["latency, to arrival here", *milliseconds(figures["latency_to_arrival_s"])],
        ["the same of the echo node", *milliseconds(echo["latency_to_arrival_s"])],
        ["node over echo", *(f"{ratio:.2f}" for ratio in ratios)],
        ["latency, to publication", *milliseconds(figures["latency_to_publication_s"])],
        ["age at publication", *milliseconds(figures["age_at_publication_s"])],
    ]
    for name in ("joint_states", "predictions"):
        regularity, shown = figures[f"{name}_regularity"], name.replace("_", " ")
        rows += [[f"{what} of {shown}", *milliseconds(regularity[f"{what}_s"])] for what in ("period", "jitter")]
    lines = [
        table(["ms", "p50", "p99", "p99.9", "longest"], rows), "",
        f"{figures['joint_states']} joint states, {figures['predictions']} predictions at {figures['rate_hz']:.1f} Hz",
        f"{figures['joint_states_without_prediction']} joint states without a prediction, "
        f"{figures['predicted_twice']} predicted twice; "
        f"{echo['joint_states_without_prediction']} without an answer of the echo node",
    ]  # fmt: skip
    return "\n".join(lines)
