"""Run all nodes of this checkout and of another one on the same inputs, and compare all their outputs bit by bit.

usage: PYTHONPATH=test python tools/recorded_run.py [--against CHECKOUT] [--only RUN ...] [--json FILE]

Inputs are recorded motions, features, images and lessons with fixed seeds. Each node runs in a process of its own, and
gets the next message when it has answered and learned the one before, so that nothing depends on how fast the machine
is. Without --against a table of digests is printed; with it the exit code is 1 where any of them differs. The compiled
modules of the other checkout have to be built (python setup.py build_ext --inplace).
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from helpers.camera_probe import CameraProbe
from helpers.detection_probe import DetectionProbe
from helpers.node_probe import START, NodeProbe
from helpers.painted_scenes import scene
from helpers.processes import shy_node_command
from helpers.recognition_probe import RecognitionProbe
from helpers.robots import PANDA_JOINTS, RIGHT_ARM
from helpers.ros_probe import RosProbe
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState
from tqdm import tqdm

from icub_learning.clients.processes import RosDomain
from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.models import read_model
from icub_learning.robots import find_urdf
from icub_learning_msgs.srv import IdentifyPayload, ListObjects, ModelFile, TeachDetection

CHECKOUT = Path(__file__).resolve().parents[1]
PERIOD = 10_000_000  # [ns] between joint states
ALONE, CARRIED, PUSHED = 1200, 200, 30  # joint states; the usual errors are known after ten seconds
LOAD = np.array([0.5, 0.0, 0.01, 0.02, 1e-3, 0.0, 1e-3, 0.0, 0.0, 1e-3])  # inertial parameters of the load
PUSH = np.array([0.0, 20.0, 0.0, 0.0, 0.0, 0.0])  # [N, N m] at the force/torque sensor
LESSON = 10.0  # [s] length of a lesson of object detection: ample for all of its images
# Diagnostics report often whether samples wait to be learned; a busy machine may answer late.
REPORTING = {"report_period": 0.05, "answer_timeout": 200.0}
LEARNER = {"n_random_features": 100, "learning_share": 1.0, "learning_backlog": 100_000, **REPORTING}

Outputs = dict[str, str]  # number of items and digest of all of them, by node and topic or file


def digest(items: list[bytes]) -> str:
    return f"{len(items)} {hashlib.sha256(b''.join(items)).hexdigest()[:16]}"


def content(value: Any) -> bytes:
    """Return all fields of a message, to the bit; serialized messages have padding bytes that nobody sets."""
    if hasattr(value, "get_fields_and_field_types"):
        return b"".join(content(getattr(value, name)) for name in value.get_fields_and_field_types())
    if isinstance(value, list | tuple):
        return b"%d " % len(value) + b"".join(map(content, value))
    return np.asarray(value).tobytes() + b" "


def of_messages(messages: list[Any]) -> str:
    return digest([content(message) for message in messages])


def of_model(path: str) -> str:
    """Return a digest of what was learned; whose samples a file holds, and when it was written, differ between runs."""
    state = {name: np.asarray(value) for name, value in read_model(path)[0].items() if not name.startswith("ledger.")}
    return digest(
        [f"{name} {state[name].dtype} {state[name].shape} ".encode() + state[name].tobytes() for name in sorted(state)]
    )


@contextmanager
def started(package: Path, folder: Path, node: str, probe: Any, **parameters: Any) -> Iterator[Any]:
    """Start a node of a checkout in a process of its own; yield its connected probe."""
    kept = {} if node in ("cnn_features", "icub_simulation") else {"models_folder": str(folder)}
    line = shy_node_command(node, parameters={**kept, **parameters})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])}
    with open(folder / f"{node}.log", "wb") as log:
        process = subprocess.Popen(line, stdout=log, stderr=log, env=environment, cwd=folder)
        try:
            with probe:
                if hasattr(probe, "connect"):
                    probe.connect()
                yield probe
        finally:
            process.terminate()
            process.wait(60.0)


def saved(probe: Any, folder: Path) -> str:
    answer = probe.call(ModelFile, "save_model", path="kept")
    assert answer.success, answer.message
    return of_model(str(folder / "kept.npz"))


def dynamics(package: Path, folder: Path, estimator: str, wrench: bool) -> Outputs:
    """Return the outputs for an arm in smooth motion, then with a load in its hand, then pushed."""
    joints = RIGHT_ARM if wrench else PANDA_JOINTS[:7]
    make, about = (WrenchRegressor, ("r_arm_ft_sensor",)) if wrench else (TorqueRegressor, ())
    urdf = "icub" if wrench else "panda"
    regressor = make.from_urdf(find_urdf(urdf), joints, *about)
    link = "r_hand_dh_frame" if wrench else "panda_link7"
    effects, rng = LinkEffects(regressor, link), np.random.default_rng(0)
    frequency = np.linspace(1.0, 4.0, regressor.n_joints)  # [rad/s]
    settings = {
        "urdf": urdf,
        "joints": list(joints),
        "output": "wrench" if wrench else "joint_torque",
        "load_link": link,
    }
    probe = NodeProbe(joints, wrench=wrench)
    found: Outputs = {}
    with started(
        package, folder, "inverse_dynamics", probe, **LEARNER, **settings, estimator=estimator, watch="always"
    ):
        for k in tqdm(
            range(ALONE + CARRIED + PUSHED), unit="sample", desc=f"{urdf} {estimator}", leave=False, disable=None
        ):
            t = 1e-9 * k * PERIOD
            motion = (
                0.4 * np.sin(frequency * t),
                0.4 * frequency * np.cos(frequency * t),
                -0.4 * frequency**2 * np.sin(frequency * t),
            )
            y = regressor(*motion) @ regressor.nominal_parameters + 0.02 * rng.normal(size=regressor.n_outputs)
            if k >= ALONE:
                y = y + effects.load(*motion) @ LOAD
            if k >= ALONE + CARRIED:
                y = y + np.resize(PUSH, regressor.n_outputs)
            stamp = START + k * PERIOD
            probe.state(stamp, position=motion[0], velocity=motion[1], **({} if wrench else {"effort": y}))
            if wrench:
                probe.wrench(stamp, y)
            probe.report(lambda seen: int(seen["messages received"]) >= probe.sent and seen["samples waiting"] == "0")
            if k in (ALONE - 1, ALONE + CARRIED - 1):
                found[f"load after {k + 1}"] = of_messages(
                    [probe.call(IdentifyPayload, "identify_payload", timeout=0.05)]
                )
        probe.until(lambda: len(probe.predictions) == ALONE + CARRIED + PUSHED)
        found["prediction"] = of_messages(probe.predictions)
        found |= {kind: of_messages(messages) for kind, messages in probe.outputs.items()}
        for inertial in probe.inertial:
            inertial.header.stamp.sec = inertial.header.stamp.nanosec = 0  # time of publication
        found["inertial parameters"] = of_messages(probe.inertial[-1:])
        found["model"] = saved(probe, folder)
    return found


def recognition(package: Path, folder: Path) -> Outputs:
    """Return the outputs for objects taught one after the other, with views of all of them in between."""
    rng = np.random.default_rng(1)
    centres = {f"object {number}": 2.0 * rng.normal(size=64) for number in range(5)}
    probe = RecognitionProbe()
    with started(package, folder, "object_recognition", probe, **REPORTING):
        for label, centre in centres.items():
            assert probe.teach(label, centre + rng.normal(size=(12, 64))).success
            probe.feed([rng.normal(size=64) + other for other in centres.values()])
        known = probe.call(ListObjects, "list_objects")
        return {
            "recognition": of_messages(probe.recognitions),
            "objects": of_messages([known]),
            "model": saved(probe, folder),
        }


def detection(package: Path, folder: Path) -> Outputs:
    """Return the outputs for two objects that are taught with given boxes and then detected."""
    rng, probe = np.random.default_rng(2), DetectionProbe()
    settings = {"n_centers": 60, "n_proposals": 60, "collect_rate": 100.0, **REPORTING}
    with started(package, folder, "object_detection", probe, **settings):
        for label in ("plum", "lime"):
            lesson = probe.ask(TeachDetection, "teach_detection", label=label, seconds=LESSON, source="boxes")
            probe.report(lambda seen, label=label: label in seen["lesson"])
            for _ in range(6):
                probe.show(*scene(rng, ["plum", "lime"]))
            assert "6 images with a box" in probe.answer(lesson).message
        seen = [probe.show(scene(rng, ["plum", "lime", "brick"])[0]) for _ in range(6)]
        return {"detections": of_messages(seen), "model": saved(probe, folder)}


def features(package: Path, folder: Path) -> Outputs:
    rng, probe = np.random.default_rng(3), CameraProbe()
    with started(package, folder, "cnn_features", probe, report_period=0.05):
        for stamp in range(1, 5):
            probe.show(scene(rng, ["plum", "brick"])[0], stamp)
            probe.features_of(stamp)
        return {"features": of_messages(probe.features)}


def simulation(package: Path, folder: Path) -> Outputs:
    """Return what the simulated arm publishes in its first second."""
    probe = RosProbe("/icub_simulation", "pace")
    with started(package, folder, "icub_simulation", probe, autostart=False, rate=50.0, image_rate=0.0) as probe:
        states, wrenches = probe.hear(JointState, "/joint_states"), probe.hear(WrenchStamped, "/wrench")
        assert probe.change(Transition.TRANSITION_CONFIGURE)
        probe.until(lambda: all(probe.node.count_publishers(topic) for topic in ("/joint_states", "/wrench")))
        probe.spin(2.0)  # publishers and subscribers find each other
        assert probe.change(Transition.TRANSITION_ACTIVATE)
        probe.until(lambda: min(len(states), len(wrenches)) >= 50)
        return {"joint states": of_messages(states[:50]), "wrenches": of_messages(wrenches[:50])}


RUNS: dict[str, Callable[[Path, Path], Outputs]] = {
    "arm, semiparametric": lambda package, folder: dynamics(package, folder, "semiparametric", True),
    "arm, nonparametric": lambda package, folder: dynamics(package, folder, "nonparametric", True),
    "Panda, parametric": lambda package, folder: dynamics(package, folder, "parametric", False),
    "object_recognition": recognition,
    "object_detection": detection,
    "cnn_features": features,
    "icub_simulation": simulation,
}


def run(package: Path, name: str) -> Outputs:
    """Return the outputs of one run by their names."""
    with RosDomain() as domain, tempfile.TemporaryDirectory() as folder:
        os.environ.update(ROS_DOMAIN_ID=str(domain.number), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        return {f"{name}: {output}": found for output, found in RUNS[name](package, Path(folder)).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout of this project")
    parser.add_argument("--only", choices=RUNS, nargs="+", default=list(RUNS), metavar="RUN", help=", ".join(RUNS))
    parser.add_argument("--json", type=Path, help="write all digests to this file")
    options = parser.parse_args()
    packages = [CHECKOUT, *([options.against.resolve()] if options.against else [])]
    found: list[Outputs] = [{} for _ in packages]
    different = False
    for name in options.only:
        for outputs, package in zip(found, packages, strict=True):
            outputs.update(run(package, name))
        for output in [output for output in found[0] if output.startswith(f"{name}: ")]:
            same = {one.get(output) for one in found} == {found[0][output]}
            different |= not same
            verdict = "" if len(found) == 1 else "same" if same else "DIFFERENT"
            print(f"{output:44}{found[0][output]:26}{verdict}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    sys.exit(different)


if __name__ == "__main__":
    main()
