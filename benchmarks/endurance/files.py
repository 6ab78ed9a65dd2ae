"""Fuzz the readers of files and messages with random bytes: model files, recordings, joint states, images.

Where Atheris is installed (`make fuzz` does that), libFuzzer follows which branches an input reaches and mutates those
that reach new ones; without it inputs are mutated blindly. A target may raise this package's errors, which refuse
an input; anything else is a finding: its input is written to the output folder, and the exit code is 1.
"""

import argparse
import importlib.util
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.endurance.random_messages import RandomMessages
from icub_learning.errors import IcubLearningError

LARGEST_INPUT = 8192  # [bytes] size of an input at most
LONGEST_INPUT = 10.0  # [s] time on one input beyond which it is a finding
Target = Callable[[bytes], None]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--targets", nargs="*", default=list(TARGETS), choices=list(TARGETS), metavar="TARGET", help="which"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Fuzz each target in a process of its own; return 1 if there was a finding."""
    findings = []
    guided = importlib.util.find_spec("atheris") is not None
    print("coverage-guided, by Atheris" if guided else "blind: Atheris is not installed", flush=True)
    for name in arguments.targets:
        folder = arguments.out.absolute() / f"fuzz_{name}"
        folder.mkdir(parents=True, exist_ok=True)
        # A process of its own: libFuzzer ends the process that it runs in.
        work = (fuzz_guided if guided else fuzz_blindly), (name, folder, arguments.seconds, arguments.seed)
        process = multiprocessing.get_context("spawn").Process(target=work[0], args=work[1])
        process.start()
        process.join(arguments.seconds * 2.0 + 120.0)
        if process.is_alive():
            process.kill()
            process.join()
        found = sorted(path.name for pattern in ("crash-*", "timeout-*", "oom-*") for path in folder.glob(pattern))
        if process.exitcode or found:
            findings.append(name)
        ended = f"ended with {process.exitcode}" if process.exitcode else "no finding"
        print(f"{name}: {', '.join(found) or ended}")
    return int(bool(findings))


def checked(target: Target) -> Target:
    """Return a target that catches the errors of this package, and nothing else."""

    def one(data: bytes) -> None:
        try:
            target(data)
        except IcubLearningError as error:
            assert str(error), "a refusal without a reason"

    return one


def fuzz_blindly(name: str, folder: Path, seconds: float, seed: int) -> None:
    """Mutate the seeds of a target until the time is over, or an input is a finding."""
    target, seeds = TARGETS[name]()
    rng = Random(seed)
    mutate, kept, count = RandomMessages(rng).bytes_of, [*seeds, b""], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutate(rng.choice(kept))[:LARGEST_INPUT]
        began = time.monotonic()
        try:
            checked(target)(data)
            if time.monotonic() - began > LONGEST_INPUT:
                raise TimeoutError(f"{time.monotonic() - began:.1f} s on one input")
        except BaseException:
            (folder / f"crash-{count}").write_bytes(data)
            raise
        count += 1
    print(f"{name}: {count} inputs", flush=True)


def fuzz_guided(name: str, folder: Path, seconds: float, seed: int) -> None:
    """Have libFuzzer look for inputs that reach new branches."""
    import atheris

    with atheris.instrument_imports(include=["icub_learning"]):
        target, seeds = TARGETS[name]()
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, data in enumerate(seeds):
        (corpus / f"seed_{number}").write_bytes(data)
    options = [
        f"-max_total_time={seconds:g}",
        f"-seed={seed + 1}",
        f"-max_len={LARGEST_INPUT}",
        f"-timeout={LONGEST_INPUT:g}",
    ]
    os.chdir(folder)  # libFuzzer writes findings into the working folder
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=4096", "-print_final_stats=1", str(corpus)], checked(target))
    atheris.Fuzz()


def model_file() -> tuple[Target, list[bytes]]:
    """Return a target that reads a model file and rebuilds the learner in it, and its seeds."""
    import numpy as np

    from icub_learning.models import ModelHeader, read_model, write_model
    from icub_learning.recursive import RecursiveLeastSquares

    scratch = TemporaryDirectory()
    path = Path(scratch.name, "model.npz")
    learner = RecursiveLeastSquares(3, 2)
    learner.update(np.ones(3), np.ones(2))
    write_model(path, learner.state(), ModelHeader("test", settings={"seed": 1}))
    seeds = [path.read_bytes()]
    with open(path, "wb") as file:
        state: dict[str, Any] = learner.state()
        np.savez(file, **state)
    seeds.append(path.read_bytes())

    def target(data: bytes, _keep: object = scratch) -> None:
        path.write_bytes(data)
        RecursiveLeastSquares.from_state(read_model(path, 10_000_000)[0])

    return target, seeds


def description() -> tuple[Target, list[bytes]]:
    """Return a target that reads the description of a model, and its seeds."""
    from icub_learning.models import ModelHeader

    def target(data: bytes) -> None:
        ModelHeader.from_text(data.decode("utf-8", "replace")).text()

    return target, [ModelHeader("inverse_dynamics", "iCub", joints=("a",), settings={"seed": 1}).text().encode()]


def model_name() -> tuple[Target, list[bytes]]:
    """Return a target that turns names into paths, none of which may lead out of the folder, and its seeds."""
    from icub_learning.models.kept import ModelsFolder

    folder = ModelsFolder("/nowhere/models")

    def target(data: bytes) -> None:
        path = folder.path(data.decode("utf-8", "surrogateescape"))
        assert os.path.normpath(path).startswith("/nowhere/models/")

    return target, [b"arm", b"../x", b"/etc/passwd", b"a/../b"]


def recording(suffix: str) -> Callable[[], tuple[Target, list[bytes]]]:
    """Return a function that makes a target that reads recordings with this ending, and its seeds."""

    def make() -> tuple[Target, list[bytes]]:
        import numpy as np

        from icub_learning.recording import Recording, read, write

        scratch = TemporaryDirectory()
        path = Path(scratch.name, f"recording{suffix}")
        n = 5
        made = Recording(
            joint_names=("elbow",),
            joint_stamps=np.arange(1, n + 1) * 10**7,
            position=np.ones((n, 1)),
            velocity=np.ones((n, 1)),
            wrench_stamps=np.arange(1, n + 1) * 10**7,
            wrench=np.ones((n, 6)),
        )
        write(made, path)
        seed = path.read_bytes()

        def target(data: bytes, _keep: object = scratch) -> None:
            path.write_bytes(data)
            read(path)

        return target, [seed]

    return make


def joint_states() -> tuple[Target, list[bytes]]:
    """Return a target for bytes of joint states: both decoders agree, and the reader takes or refuses the numbers."""
    import numpy as np
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from icub_learning.dynamics.motion.joint_states import JointStateReader
    from icub_learning.errors import SampleError
    from icub_learning.nodes.common.serialized import message_of
    from icub_learning.nodes.inverse_dynamics.message_layouts import JointStateDecoder

    joints = ("elbow", "wrist")
    seeds = [
        serialize_message(JointState(name=list(joints), position=[0.1, 0.2], velocity=velocity, effort=[]))
        for velocity in ([0.3, 0.4], [])
    ]
    decoder, reader = JointStateDecoder(), JointStateReader(joints, any_order=True)

    def target(data: bytes) -> None:
        decoder.decode(seeds[0])  # a layout to compare with
        try:
            plain = message_of(data, JointState)
        except SampleError:
            decoder.decode(data)  # must refuse it, too
            raise AssertionError("what is no message was decoded") from None
        numbers = decoder.decode(data)
        for field in ("position", "velocity", "effort"):
            assert np.array_equal(getattr(plain, field), getattr(numbers, field), equal_nan=True), field
        assert tuple(plain.name) == numbers.name
        reader.read(numbers.name, numbers.position, numbers.velocity, numbers.effort)

    return target, seeds


def image() -> tuple[Target, list[bytes]]:
    """Return a target that decodes raw images, whose first bytes choose encoding and sizes, and its seeds."""
    from icub_learning.recognition.vision.images import decode

    encodings = (
        "rgb8", "bgr8", "rgba8", "bgra8", "mono8", "rgb16", "bgra16", "mono16", "bayer_rggb8", "bayer_gbrg16", "uyvy",
        "yuv422_yuy2", "nv12", "nv21", "nv24", "8UC1", "8UC3", "nonsense",
    )  # fmt: skip

    def target(data: bytes) -> None:
        if len(data) < 6:
            return
        encoding, row_bytes = encodings[data[0] % len(encodings)], int.from_bytes(data[3:5], "little")
        decode(encoding, data[1] % 32, data[2] % 32, row_bytes, data[6:], bool(data[5] & 1))

    return target, [bytes([0, 4, 4, 12, 0, 0]) + bytes(48), bytes([8, 4, 4, 4, 0, 0]) + bytes(16)]


def compressed_image() -> tuple[Target, list[bytes]]:
    """Return a target that decodes compressed images, and its seeds."""
    import cv2
    import numpy as np

    from icub_learning.recognition.vision.images import decode_compressed

    picture = np.arange(16 * 16 * 3, dtype=np.uint8).reshape(16, 16, 3)
    seeds = [cv2.imencode(ending, picture)[1].tobytes() for ending in (".jpg", ".png")]

    def target(data: bytes) -> None:
        decode_compressed("jpeg" if data[:1] == b"\xff" else "png", data)

    return target, seeds


TARGETS: dict[str, Callable[[], tuple[Target, list[bytes]]]] = {
    "model_file": model_file,
    "description": description,
    "model_name": model_name,
    "csv": recording(".csv"),
    "npz": recording(".npz"),
    "mcap": recording(".mcap"),
    "db3": recording(".db3"),
    "joint_states": joint_states,
    "image": image,
    "compressed_image": compressed_image,
}
