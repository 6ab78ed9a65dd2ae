"""A simulated robot at work for any length of time: predictions, images, lessons, saves, loads, restarts.

The simulation publishes joint states and wrenches at 200 Hz. One inverse dynamics node learns all the time, and is
saved, loaded, deactivated and activated. A second one is killed, or asked to end, again and again, and has to come back
with what it had learned. Images come at 20 Hz to cnn_features, its features to object_recognition, which is taught,
forgets, is saved and loaded. Resident memory, latency and lost predictions are followed.

Before a soak of five minutes or more begins, object_recognition is taught as many views as it keeps, as after weeks of
work: a memory that is bounded and not yet full would hide what grows without bound.
"""

import argparse
import json
import os
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sensor_msgs.msg import Image, JointState

from benchmarks.endurance.children import ARM, Child, node, own_domain
from benchmarks.endurance.probe import Probe
from icub_learning.clients.polling import PolledTopic
from icub_learning.models.files import read_model
from icub_learning.nodes.common.image_messages import image_message
from icub_learning.nodes.common.qos import DEEP
from icub_learning.recognition.classifiers.kept_views import MAX_VIEWS
from icub_learning_msgs.msg import DynamicsPrediction
from icub_learning_msgs.srv import ForgetObject, ModelFile, TeachObject

RATE, IMAGES = 200.0, 20.0  # [Hz] of joint states and wrenches, and of images
PAUSE = 0.01  # [s] between two polls of the topics
SETTLE = 0.3  # [s] of joint states before and after a pause of the node that do not count: they are on their way
LEARNER, RESTARTED, RECOGNIZER, EYE = "inverse_dynamics", "restarted", "object_recognition", "cnn_features"
MEMORY_OF = (LEARNER, RECOGNIZER, EYE)  # nodes that run from the beginning to the end
WARM = 0.1  # share of the time after which memory must not grow
LONG = 300.0  # [s] soaks of at least this length begin with a full memory of views
EVENTS = (
    "teach",
    "save",
    "load",
    "kill",
    "save_objects",
    "teach",
    "pause_learner",
    "end",
    "load_objects",
    "forget",
)  # events of one round, in their order
MOST_EVENTS = 60  # events in a soak, at most
OBJECTS = 3  # objects, each of which is taught again and again
PICTURE = 5.0  # [s] for which a picture is shown


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=30.0, help="how long")
    parser.add_argument("--seed", type=int, default=0, help="of the images and of the order of events")
    parser.add_argument(
        "--priority",
        type=int,
        default=0,
        help="real-time priority of all processes, on a machine that others use too; 0: none",
    )
    parser.add_argument(
        "--small-network", action="store_true", help="features of a network of one layer, for machines with few cores"
    )


def run(arguments: argparse.Namespace) -> int:
    """Soak; write soak.json and soak.png; return 1 if a bound is broken."""
    with TemporaryDirectory() as folder, own_domain():
        schedule(arguments.priority)
        network = str(small_network(Path(folder, "small.onnx"))) if arguments.small_network else ""
        found = Soak(Path(folder), arguments.out, arguments.minutes * 60.0, arguments.seed, network).run()
    (arguments.out / "soak.json").write_text(json.dumps(found, indent=1))
    draw(found, arguments.out / "soak.png")
    for name, value in found["summary"].items():
        print(f"{name}: {value}")
    return int(not all(found["bounds"].values()))


class Soak:
    """One soak: its processes, its events, and what is measured.

    Args:
        folder: folder of the models.
        out: folder of the logs.
        seconds: duration.
        seed: seed of images and events.
        network: network of cnn_features, "" for its default.
    """

    def __init__(self, folder: Path, out: Path, seconds: float, seed: int, network: str) -> None:
        self._network = network
        self._folder, self._out, self._seconds = folder, out, seconds
        self._rng = np.random.default_rng(seed)
        self._rows: list[dict[str, float]] = []
        self._events: list[tuple[float, str]] = []
        self._away: list[tuple[int, int]] = []  # stamps [ns] between which the learner was not active
        self._problems: list[str] = []
        self._n_restarts = 0

    def run(self) -> dict[str, Any]:
        """Run the soak and return its findings."""
        logs = self._out
        for old in logs.glob("soak_*.log"):
            old.unlink()
        arm = {"joints": list(ARM), "models_folder": str(self._folder), "autosave_period": 10.0, "keep_models": 3}
        self._restarted_settings: dict[str, Any] = {
            **arm,
            "estimator": "parametric",
            "model_file": "restarted",
            "autosave_period": 5.0,
            "watch": "never",  # it learns all the time, so that there is always something new to save
        }
        with (
            node("icub_simulation", logs / "soak_simulation.log", image_rate=0.0, rate=RATE, task="random"),
            node("inverse_dynamics", logs / "soak_learner.log", LEARNER, **arm, model_file="learner") as learner,
            node("cnn_features", logs / "soak_eye.log", EYE, model=self._network) as eye,
            node("object_recognition", logs / "soak_recognizer.log", RECOGNIZER,
                 models_folder=str(self._folder), model_file="objects", autosave_period=10.0) as recognizer,
            Probe() as probe, Probe("topics") as silent,
        ):  # fmt: skip
            self._probe = probe
            self._children = {LEARNER: learner, EYE: eye, RECOGNIZER: recognizer}
            self._start_restarted()
            # No executor spins this node: its topics are polled, which tells when messages were published.
            silent._executor.remove_node(silent.node)
            self._states = PolledTopic(silent.node, JointState, "/joint_states", DEEP)
            self._predictions = PolledTopic(silent.node, DynamicsPrediction, f"/{LEARNER}/prediction", DEEP)
            self._images = probe.node.create_publisher(Image, "image", 2)
            self._pictures = self._rng.integers(0, 256, (3, 64, 64, 3), dtype=np.uint8)
            self._require(lambda: len(self._states.series) and len(self._predictions.series), "the first prediction")
            self._start = time.monotonic()
            if self._seconds >= LONG:
                self._fill_views()
            self._poll(SETTLE)
            self._began = self._states.series.last_stamp
            self._work()
            silent._executor.add_node(silent.node)
            self._restarted.end()
        return self._judge()

    def _work(self) -> None:
        start = next_image = next_look = time.monotonic()
        plan = self._plan()
        self._start = start
        while (now := time.monotonic()) < start + self._seconds:
            self._poll(PAUSE)
            if now >= next_image:
                next_image += 1.0 / IMAGES
                self._show(now)
            if now >= next_look:
                next_look += 1.0
                self._look(now - start)
            while plan and now - start >= plan[0][0]:
                when, name = plan.pop(0)
                self._events.append((when, name))
                getattr(self, f"_{name}")()

    def _plan(self) -> list[tuple[float, str]]:
        """Return the events by time [s]: each one some times in any soak; one in about half a minute in a long one."""
        times = np.arange(8.0, self._seconds - 8.0, max(self._seconds / MOST_EVENTS, 5.0))
        return [(float(when), EVENTS[index % len(EVENTS)]) for index, when in enumerate(times)]

    def _poll(self, seconds: float) -> None:
        self._probe.spin(seconds)
        self._states.poll()
        self._predictions.poll()

    def _require(self, condition: Any, what: str, limit: float = 60.0) -> None:
        deadline = time.monotonic() + limit
        while not condition():
            self._poll(PAUSE)
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what} did not come within {limit:g} s; see {self._out}/soak_*.log")

    def _show(self, now: float) -> None:
        """Publish the picture of this time [s, monotonic], with noise."""
        picture = self._pictures[int((now - self._start) / PICTURE) % len(self._pictures)]
        noisy = picture + self._rng.integers(0, 20, picture.shape, dtype=np.uint8)
        self._images.publish(image_message(noisy, time.time_ns()))

    def _look(self, seconds: float) -> None:
        row = {"seconds": seconds, **{f"{name} [MiB]": self._children[name].memory() for name in MEMORY_OF}}
        self._rows.append(row)
        for name, child in self._children.items():
            if not child.running:
                raise RuntimeError(f"{name} has ended; see {child.log}")

    def _call(self, kind: Any, service: str, takes: float = 12.0, **fields: Any) -> None:
        """Call a service while all else goes on, and note a failure."""
        future = self._probe.services.ask(kind, service, **fields)
        deadline, next_image = time.monotonic() + takes + 10.0, 0.0
        while not future.done() and time.monotonic() < deadline:
            self._poll(PAUSE)
            if (now := time.monotonic()) >= next_image:
                next_image = now + 1.0 / IMAGES
                self._show(now)
        if not future.done():
            self._problems.append(f"{service} did not answer")
        elif not future.result().success:
            self._problems.append(f"{service}: {future.result().message}")

    def _fill_views(self) -> None:
        n_frames = MAX_VIEWS // OBJECTS + 1
        takes = 3.0 * n_frames / IMAGES
        for index in range(OBJECTS):
            print(f"object_recognition is taught {n_frames} views of object {index}", flush=True)
            label = f"object {index}"
            self._call(TeachObject, f"/{RECOGNIZER}/teach", takes, label=label, n_frames=n_frames, timeout=takes)

    def _teach(self) -> None:
        label = f"object {int(self._rng.integers(OBJECTS))}"
        self._call(TeachObject, f"/{RECOGNIZER}/teach", 10.0, label=label, n_frames=20, timeout=10.0)

    def _forget(self) -> None:
        self._call(TeachObject, f"/{RECOGNIZER}/teach", 10.0, label="soon forgotten", n_frames=5, timeout=10.0)
        self._call(ForgetObject, f"/{RECOGNIZER}/forget_object", label="soon forgotten")

    def _save(self) -> None:
        self._call(ModelFile, f"/{LEARNER}/save_model", path="by_hand")

    def _load(self) -> None:
        self._call(ModelFile, f"/{LEARNER}/load_model", path="by_hand")

    def _save_objects(self) -> None:
        self._call(ModelFile, f"/{RECOGNIZER}/save_model", path="objects_by_hand")

    def _load_objects(self) -> None:
        self._call(ModelFile, f"/{RECOGNIZER}/load_model", path="objects_by_hand")

    def _pause_learner(self) -> None:
        began = self._states.series.last_stamp
        for name in ("deactivate", "activate"):
            if not self._probe.transition(LEARNER, name):
                self._problems.append(f"{LEARNER} did not {name}")
        self._poll(SETTLE)
        margin = round(SETTLE * 1e9)
        self._away.append((began - margin, self._states.series.last_stamp + margin))

    def _kill(self) -> None:
        self._restarted.kill()
        self._restart()

    def _end(self) -> None:
        if self._restarted.end() != 0:
            self._problems.append("the restarted node ended with an error")
        self._restart()

    def _restart(self) -> None:
        self._n_restarts += 1
        file = self._folder / "restarted.npz"
        try:
            _, header = read_model(file)
            age = time.time() - (header.saved_at if header else 0.0)
            if age > 3.0 * self._restarted_settings["autosave_period"]:
                self._problems.append(f"the model of the restarted node was {age:.1f} s old")
        except Exception as error:
            self._problems.append(f"after restart {self._n_restarts}: {error}")
        self._start_restarted()

    def _start_restarted(self) -> None:
        log = self._out / "soak_restarted.log"
        policy, own = os.sched_getscheduler(0), os.sched_getparam(0)
        if policy == os.SCHED_FIFO:  # a process that starts works for seconds, and would hold up all others
            os.sched_setscheduler(0, policy, os.sched_param(1))
        self._restarted: Child = node("inverse_dynamics", log, RESTARTED, **self._restarted_settings)
        if policy == os.SCHED_FIFO:
            os.sched_setscheduler(0, policy, own)

    def _judge(self) -> dict[str, Any]:
        states, predictions = (one.series.arrays()[0] for one in (self._states, self._predictions))
        states, predictions = (rows[rows[:, 0] >= self._began] for rows in (states, predictions))
        asked = states[:, 0]
        asked = asked[(asked >= predictions[0, 0]) & (asked <= predictions[-1, 0])]
        for begin, end in self._away:
            asked = asked[(asked < begin) | (asked > end)]
        lost = np.setdiff1d(asked, predictions[:, 0])
        _, first, second = np.intersect1d(states[:, 0], predictions[:, 0], return_indices=True)
        latency = (predictions[second, 1] - states[first, 1]) * 1e-9
        when = (predictions[second, 1] - predictions[0, 1]) * 1e-9
        thirds = [float(1e3 * np.percentile(part, 99)) for part in np.array_split(latency, 3)]
        growth = {name: growth_of([row[f"{name} [MiB]"] for row in self._rows]) for name in MEMORY_OF}
        logs = {path.name: path.read_text(errors="replace") for path in self._out.glob("soak_*.log")}
        tracebacks = sum(text.count("Traceback") for text in logs.values())
        loaded = logs["soak_restarted.log"].count("loaded ")
        summary = {
            "minutes": round(self._seconds / 60.0, 2),
            "predictions": len(predictions),
            "joint states asked": len(asked),
            "lost predictions": len(lost),
            "growth of resident memory [%]": {name: round(100.0 * value, 3) for name, value in growth.items()},
            "p99 of the latency in each third [ms]": [round(value, 3) for value in thirds],
            "restarts": self._n_restarts,
            "restarts that loaded the model": loaded,
            "tracebacks": tracebacks,
            "problems": self._problems,
            "load of the machine at the end": os.getloadavg()[0],
        }
        bounds = {
            "no prediction lost": not len(lost),
            "memory grows by less than 1 %": max(growth.values()) < 0.01,
            "p99 of the last third within 10 % of the first's": abs(thirds[-1] / thirds[0] - 1.0) < 0.1,
            "every restart found its model": loaded >= self._n_restarts,
            "no traceback and no refusal": not tracebacks and not self._problems,
        }
        summary["bounds"] = bounds
        cuts = np.linspace(0.0, when[-1], 121)
        parts = [latency[(when >= a) & (when < b)] for a, b in pairwise(cuts)]
        curve = [float(1e3 * np.percentile(part, 99)) if len(part) else float("nan") for part in parts]
        return {
            "summary": summary,
            "bounds": bounds,
            "rows": self._rows,
            "events": self._events,
            "latency": {"seconds": cuts[1:].tolist(), "p99 [ms]": curve},
            "lost": ((lost - predictions[0, 0]) * 1e-9).tolist(),
        }


def schedule(priority: int) -> None:
    """Set the real-time priority of this process and of all that it starts; 0 changes nothing."""
    if priority:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def small_network(path: Path) -> Path:
    """Write a network of one convolution and an average to `path` and return it: images of 64 x 64, 32 features."""
    import onnx
    from onnx import TensorProto, helper

    weights = np.random.default_rng(0).normal(size=(32, 3, 8, 8)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["image", "weights"], ["edges"], strides=[8, 8]),
            helper.make_node("Relu", ["edges"], ["parts"]),
            helper.make_node("GlobalAveragePool", ["parts"], ["averages"]),
            helper.make_node("Flatten", ["averages"], ["features"]),
        ],
        "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 64, 64])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, 32])],
        [helper.make_tensor("weights", TensorProto.FLOAT, weights.shape, weights.ravel())],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def growth_of(values: list[float]) -> float:
    """Return the growth of memory from the first round of events after the warm-up to the last one, as a fraction.

    Memory goes up and down with savings, loads and lessons, so that shorter times would compare different events.
    """
    n = max(len(values) * len(EVENTS) // MOST_EVENTS, 1)
    warm = int(WARM * len(values))
    before = float(np.median(values[warm : warm + n]))
    return float(np.median(values[-n:])) / before - 1.0


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw memory, latency and lost predictions over time."""
    import matplotlib.pyplot as plt

    minutes = np.array([row["seconds"] for row in found["rows"]]) / 60.0
    figure, (memory, latency, lost) = plt.subplots(3, 1, sharex=True, figsize=(9, 8), layout="constrained")
    for name in MEMORY_OF:
        memory.plot(minutes, [row[f"{name} [MiB]"] for row in found["rows"]], label=name)
    memory.set_ylabel("resident memory [MiB]")
    memory.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(MEMORY_OF), frameon=False)
    latency.plot(np.array(found["latency"]["seconds"]) / 60.0, found["latency"]["p99 [ms]"])
    latency.set_ylabel("p99 of the latency [ms]")
    latency.set_ylim(bottom=0.0)
    lost.hist(np.array(found["lost"]) / 60.0, bins=60, range=(0.0, float(minutes[-1])))
    lost.set_ylabel(f"lost predictions: {len(found['lost'])}")
    lost.set_xlabel("time [min]")
    lost.set_ylim(bottom=0.0, top=None if found["lost"] else 1.0)
    for when, name in found["events"]:
        if name in ("kill", "end", "pause_learner"):
            for axes in (memory, latency, lost):
                axes.axvline(when / 60.0, color="0.9", zorder=0)
    figure.suptitle(
        f"simulated arm at {RATE:g} Hz, images at {IMAGES:g} Hz, {found['summary']['restarts']} restarts (grey lines)"
    )
    figure.savefig(path, dpi=100)
    plt.close(figure)
