"""`icub-learning latency`: how fast and how regularly a running inverse dynamics node answers, seen from outside."""

import argparse
import sys
import time
from typing import Any

from icub_learning.reporting.tables import add_json_option, table, write_json

DESCRIPTION = "Measure latency, period, jitter and losses of a running inverse dynamics node."
EXAMPLE = """\
example:
  icub-learning latency --seconds 30
  icub-learning latency --node right_arm_dynamics --joint-states /right_arm/joint_states --json out/latency.json

latency runs from the publication of a joint state to that of its prediction, by the clock of the middleware, and to the
arrival of the prediction here; age runs from the stamp of a joint state, where stamps are of this machine's clock."""

PATIENCE = 10.0  # [s] for a first joint state and a first prediction
POLL = 0.005  # [s]
LARGEST_AGE = 3600.0  # [s]; stamps that are older are of another clock


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--node", metavar="NAME", default="inverse_dynamics", help="default: inverse_dynamics")
    parser.add_argument("--joint-states", metavar="TOPIC", default="joint_states", help="default: joint_states")
    parser.add_argument("--seconds", metavar="X", type=float, default=10.0, help="to listen (default: 10)")
    parser.add_argument(
        "--rtprio", metavar="N", type=int, default=0, help="listen at this SCHED_FIFO priority (default: ordinary)"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Listen and print."""
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState
    from tqdm import tqdm

    from icub_learning.arrays import integer, real
    from icub_learning.clients.topic_statistics import Series
    from icub_learning.clients.topics import ros_node
    from icub_learning.errors import IcubLearningError
    from icub_learning.nodes.common.conversions import stamp_to_ns
    from icub_learning.nodes.common.scheduling import ask_for_real_time
    from icub_learning_msgs.msg import DynamicsPrediction

    seconds = real("--seconds", args.seconds, 0.0, low_open=True)
    priority = integer("--rtprio", args.rtprio, 0)
    quality = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)  # takes from any publisher
    topics = {
        "joint states": (JointState, args.joint_states),
        "predictions": (DynamicsPrediction, f"/{args.node}/prediction"),
    }
    series = {name: Series(0) for name in topics}

    with ros_node("icub_learning_latency", polled=True) as (node, spin, stopped):
        subscriptions = {
            name: node.create_subscription(kind, topic, _by_poll, quality) for name, (kind, topic) in topics.items()
        }
        if priority:
            print(ask_for_real_time(priority), file=sys.stderr)

        def poll() -> None:
            for name, subscription in subscriptions.items():
                while (taken := subscription.handle.take_message(subscription.msg_type, False)) is not None:
                    message, info = taken
                    series[name].add(stamp_to_ns(message.header.stamp), info)

        def listen(limit: float, enough: Any) -> None:
            while time.monotonic() < limit and not stopped() and not enough():
                spin(POLL)
                poll()

        listen(time.monotonic() + PATIENCE, lambda: all(map(len, series.values())))
        for name, subscription in subscriptions.items():
            if not len(series[name]) and not stopped():
                reason = f"no {name} on {subscription.topic_name} within {PATIENCE:g} s; is the node active?"
                raise IcubLearningError(reason, name=name, value=0, bound="at least one")
        start = time.monotonic()
        whole = round(seconds)
        with tqdm(total=whole, unit="s", disable=None, leave=False) as bar:

            def advance() -> bool:
                bar.update(min(whole, int(time.monotonic() - start)) - int(bar.n or 0))
                return False

            listen(start + seconds, advance)
    if not all(map(len, series.values())):
        return 1
    figures = figures_of(series["joint states"].arrays()[0], series["predictions"].arrays()[0])
    print(text(figures))
    if args.json:
        write_json(args.json, figures)
    return 0


def _by_poll(_message: Any) -> None:
    """Never called: messages are taken from the subscription, with the times that the middleware gives them."""


def figures_of(joint_states: Any, predictions: Any) -> dict[str, Any]:
    """All figures of what was heard.

    Args:
        joint_states, predictions: (n, 3) stamp, publication and arrival of each [ns].
    """
    import numpy as np

    from icub_learning.clients.topic_statistics import regularity_of, timing_of
    from icub_learning.evaluation.metrics import percentiles

    figures = timing_of(joint_states, predictions)
    figures["joint_states"] = len(joint_states)
    for name, times in (("joint_states", joint_states), ("predictions", predictions)):
        figures[f"{name}_regularity"] = regularity_of(times)
    ages = (predictions[:, 1] - predictions[:, 0]) * 1e-9
    figures["age_at_publication_s"] = percentiles(ages) if np.abs(ages).max() < LARGEST_AGE else None
    return figures


def text(figures: dict[str, Any]) -> str:
    """The table."""

    def milliseconds(values: dict[str, float] | None) -> list[str]:
        return [f"{1e3 * values[key]:.3f}" for key in ("p50", "p99", "max")] if values else ["-"] * 3

    rows = [
        ["latency, to publication", *milliseconds(figures["latency_to_publication_s"])],
        ["latency, to arrival here", *milliseconds(figures["latency_to_arrival_s"])],
        ["age at publication", *milliseconds(figures["age_at_publication_s"])],
    ]
    for name in ("joint_states", "predictions"):
        found, words = figures[f"{name}_regularity"], name.replace("_", " ")
        rows.append([f"period of {words}", *milliseconds(found["period_s"])])
        rows.append([f"jitter of {words}", *milliseconds(found["jitter_s"])])
    lines = [
        table(["ms", "p50", "p99", "max"], rows),
        "",
        f"{figures['joint_states']} joint states, {figures['predictions']} predictions at {figures['rate_hz']:.1f} Hz",
        f"{figures['joint_states_without_prediction']} joint states without a prediction, "
        f"{figures['predicted_twice']} predicted twice",
    ]
    return "\n".join(lines)
