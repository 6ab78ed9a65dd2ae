"""Kill (SIGKILL) processes that save models, at random moments; every restart must find a whole and recent model.

`--saving`: a process saves one model after the other without pause; what the next process loads must be the last one
that was saved, or the one that was being saved. `--nodes`: each learning node at work, which must come back with a
model that is no older than the autosave period and the time of one saving.
"""

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from benchmarks.endurance.children import ARM, node, own_domain
from benchmarks.endurance.probe import Probe
from icub_learning.errors import StateError
from icub_learning.models.files import read_model
from icub_learning.models.header import ModelHeader
from icub_learning.models.kept import KeptModels
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning_msgs.msg import FeatureVector
from icub_learning_msgs.srv import TeachObject

LONGEST = 0.2  # [s] that a saving process lives at most after it has loaded
KEEP = 3
PERIOD = 0.5  # [s] between autosaves of the nodes
SPARE = 2.0  # [s] that a node may need to write a model on a busy machine
NODES = ("inverse_dynamics", "object_recognition")
N_FEATURES = 64


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--saving", type=int, default=1000, help="kills of a process that saves without pause")
    parser.add_argument("--nodes", type=int, default=100, help="kills of each learning node")
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Kill; write kills.json; return 1 if anything was lost."""
    rng = np.random.default_rng(arguments.seed)
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        if arguments.saving:
            found["saving"] = kill_savers(Path(folder, "model.npz"), arguments.saving, rng)
            print(json.dumps(found["saving"]), flush=True)
    for name in NODES if arguments.nodes else ():
        with TemporaryDirectory() as folder, own_domain():
            log = arguments.out / f"kills_{name}.log"
            log.unlink(missing_ok=True)
            found[name] = kill_nodes(name, Path(folder), log, arguments.nodes, rng)
            print(json.dumps({name: found[name]}), flush=True)
    (arguments.out / "kills.json").write_text(json.dumps(found, indent=1))
    return int(any(part["unreadable"] or part["too old"] for part in found.values()))


def kill_savers(path: Path, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Kill a process that saves without pause, again and again.

    Returns:
        Numbers of kills, of kills in the middle of a saving, of files of any age that could not be read, of restarts
        whose model was older than the last one that had been saved, and of models saved in all.
    """
    unreadable = old = amid = last_saved = saved = 0
    context = multiprocessing.get_context("fork")
    for _ in range(number):
        reader, writer = os.pipe()
        child = context.Process(target=save_without_pause, args=(path, writer))
        child.start()
        os.close(writer)
        with os.fdopen(reader) as told:
            loaded = int(told.readline().split()[1])
            old += loaded < last_saved
            time.sleep(float(rng.uniform(0.0, LONGEST)))
            child.kill()
            child.join()
            lines = [line.split() for line in told.read().splitlines() if len(line.split()) == 2]
        amid += bool(lines) and lines[-1][0] == "saving"
        done = [int(value) for word, value in lines if word == "saved"]
        saved += len(done)
        last_saved = max([loaded, *done])
        kept = KeptModels(path, KEEP)
        for file in kept.files():
            try:
                read_model(file)
            except StateError as error:
                unreadable += 1
                print(error, flush=True)
        kept.close()
    return {"kills": number, "amid a saving": amid, "unreadable": unreadable, "too old": old, "saved": saved}


def save_without_pause(path: Path, writer: int) -> None:
    """Load the newest model, check that it is whole, and save on from its number until killed; report each step."""
    with os.fdopen(writer, "w", buffering=1) as tell:
        kept = KeptModels(path, KEEP)
        state = kept.load(lambda state, _header: state)[0]
        number = 0 if state is None else int(state["number"])
        assert state is None or bool((state["numbers"] == number).all())
        tell.write(f"loaded {number}\n")
        while True:
            number += 1
            tell.write(f"saving {number}\n")
            kept.save({"number": np.asarray(number), "numbers": np.full(50_000, number)}, ModelHeader("test"))
            tell.write(f"saved {number}\n")


def kill_nodes(name: str, folder: Path, log: Path, number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Kill a learning node at work, again and again.

    Returns:
        Figures as of `kill_savers`, and the largest age [s] of the model on the disk at a kill: the time since saving.
    """
    settings: dict[str, Any] = {"models_folder": str(folder), "model_file": "kept", "autosave_period": PERIOD}
    if name == "inverse_dynamics":
        settings |= {"joints": list(ARM), "n_random_features": 200}
    file = folder / "kept.npz"
    unreadable = old = forgot = 0
    oldest, learned = 0.0, 0
    with Probe() as probe:
        work = Work(name, probe)
        for _ in range(number):
            with node(name, log, name, **settings) as child:
                header = _header(file)
                began = time.monotonic()
                work.start()
                deadline = began + 60.0
                while _header(file) is None or _saved(file) <= (header.saved_at if header else 0.0):
                    work.go_on()
                    if time.monotonic() > deadline or not child.running:
                        raise RuntimeError(f"{name} has saved nothing; see {log}")
                until = time.monotonic() + float(rng.uniform(0.0, 2.0 * PERIOD))
                while time.monotonic() < until:
                    work.go_on()
                child.kill()
                killed = time.time()
            kept = KeptModels(file, 5)
            for path in kept.files():
                try:
                    read_model(path)
                except StateError as error:
                    unreadable += 1
                    print(error, flush=True)
            kept.close()
            newest = _header(file)
            assert newest is not None
            age = killed - newest.saved_at
            oldest, old = max(oldest, age), old + (age > PERIOD + SPARE)
            count = int(newest.statistics["samples" if name == "inverse_dynamics" else "examples"])
            forgot += count < learned
            learned = count
    return {
        "kills": number,
        "unreadable": unreadable,
        "too old": old,
        "oldest model at a kill [s]": round(oldest, 3),
        "autosave period [s]": PERIOD,
        "restarts that knew less than before": forgot,
        "learned in the end": learned,
        "loaded": log.read_text(errors="replace").count("loaded "),
        "tracebacks": log.read_text(errors="replace").count("Traceback"),
    }


class Work:
    """Data that a learning node learns from: smooth motions with their wrenches, or one lesson after the other.

    Args:
        name: name of the node.
        probe: publishes messages and calls services.
    """

    def __init__(self, name: str, probe: Probe) -> None:
        self._name, self._probe, self._stamp = name, probe, 1_700_000_000 * 10**9
        self._rng = np.random.default_rng(0)
        make = probe.node.create_publisher
        if name == "inverse_dynamics":
            self._states, self._wrenches = make(JointState, "joint_states", 10), make(WrenchStamped, "wrench", 10)
        else:
            self._features = make(FeatureVector, "features", 10)
        self._lesson: Any = None
        self._asked = 0.0

    def start(self) -> None:
        """Wait until the node has subscribed."""
        topic = "joint_states" if self._name == "inverse_dynamics" else "features"
        self._probe.until(lambda: self._probe.node.count_subscribers(topic), 60.0)
        self._lesson = None

    def go_on(self) -> None:
        """Publish one sample, and keep lessons going."""
        self._stamp += 5_000_000
        if self._name == "inverse_dynamics":
            t, rate = self._stamp * 1e-9 % 1e4, np.linspace(1.0, 4.0, len(ARM))
            state = JointState(
                name=list(ARM), position=list(0.4 * np.sin(rate * t)), velocity=list(rate * np.cos(rate * t))
            )
            wrench = WrenchStamped()
            wrench.wrench.force.z, wrench.wrench.torque.x = float(10.0 + np.sin(t)), float(np.cos(2.0 * t))
            for message, publisher in ((state, self._states), (wrench, self._wrenches)):
                set_stamp(message.header.stamp, self._stamp)
                publisher.publish(message)
        else:
            message = FeatureVector(source="kills/features", values=self._rng.normal(size=N_FEATURES).tolist())
            set_stamp(message.header.stamp, self._stamp)
            self._features.publish(message)
            self._teach()
        self._probe.spin(0.005)

    def _teach(self) -> None:
        # A request to a node that has been killed meanwhile is never answered.
        if self._lesson is not None and not self._lesson.done() and time.monotonic() < self._asked + 2.0:
            return
        client = self._probe.services._clients.get("/object_recognition/teach")
        if client is None or client.service_is_ready():
            self._asked = time.monotonic()
            label = f"object {int(self._rng.integers(3))}"
            self._lesson = self._probe.services.ask(
                TeachObject, "/object_recognition/teach", label=label, n_frames=5, timeout=5.0
            )


def _header(file: Path) -> ModelHeader | None:
    try:
        return read_model(file)[1]
    except StateError:
        return None


def _saved(file: Path) -> float:
    header = _header(file)
    return header.saved_at if header else 0.0
