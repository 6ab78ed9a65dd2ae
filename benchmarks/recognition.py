"""Measure recognition from a camera's image to the object's name: rate and delay, while every image is learned too."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.node import schedule
from benchmarks.report import Result
from icub_learning.clients.processes import Processes, RosDomain
from icub_learning.launching.commands import node_command
from icub_learning.nodes.common.threads.scheduling import giving_way

SIZE = 224  # [px] width and height of an image
N_OBJECTS = 10
LESSON = 20  # frames of a lesson
NODES = ("cnn_features", "object_recognition")
RATES = (20.0, 30.0, 60.0, 200.0)  # [frames/s]; the last is more than the nodes can process: the rest is dropped
SECONDS = 60.0


def run(quick: bool) -> Result:
    """Show frames at each rate for a minute (quick: at two rates, for ten seconds)."""
    rows = []
    with RosDomain() as domain, tempfile.TemporaryDirectory() as logs:
        os.environ.update(ROS_DOMAIN_ID=str(domain.number), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        for rate in tqdm(RATES[1::2] if quick else RATES, unit="rate"):
            rows.append(follow(rate, 10.0 if quick else SECONDS, Path(logs)))
    remarks = [
        f"frames of {SIZE} x {SIZE} of {N_OBJECTS} objects in turns, one lesson of {LESSON} frames after another.",
        "camera, cnn_features and object_recognition are three processes; ms: from the publication of a frame until",
        "its recognition is back. first and last: mean over the first and the last third of the time.",
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.",
    ]
    return Result(rows, remarks)


def follow(rate: float, seconds: float, logs: Path) -> dict[str, Any]:
    """Run both nodes in the ROS domain of this process and show them frames at `rate`; return a row of the table."""
    with Processes(logs) as processes:
        for name in NODES:
            processes.start(name, node_command(name), {"OMP_NUM_THREADS": "1"})
        with Camera() as camera:
            camera.wait_for_nodes(processes)
            before = {name: schedule(processes.pid(name))[0] for name in NODES}
            camera.show(rate, seconds)
            after = {name: schedule(processes.pid(name))[0] for name in NODES}
            processes.check()
            delays, learned, sent = 1e3 * np.array(camera.delays), camera.learned, camera.sent
    third = len(delays) // 3
    return {
        "frames/s sent": round(sent / seconds, 1),
        "recognized/s": round(len(delays) / seconds, 1),
        "learned/s": round(learned / seconds, 1),
        "p50 ms": round(float(np.percentile(delays, 50)), 1),
        "p99 ms": round(float(np.percentile(delays, 99)), 1),
        "max ms": round(float(delays.max()), 1),
        "first ms": round(float(delays[:third].mean()), 1),
        "last ms": round(float(delays[-third:].mean()), 1),
        **{f"{name} on a core %": round(100 * (after[name] - before[name]) / seconds, 1) for name in NODES},
    }


class Camera:
    """Publishes frames, listens for recognitions, and teaches all the time; use as a context manager."""

    def __enter__(self) -> "Camera":
        import rclpy
        from rclpy.experimental import EventsExecutor
        from sensor_msgs.msg import Image

        from icub_learning_msgs.msg import Recognition
        from icub_learning_msgs.srv import TeachObject

        self.delays: list[float] = []  # [s] from the publication of a frame to its recognition
        self.learned = self.sent = 0
        self._sent_at: dict[int, float] = {}  # [s] by the frame's number, which is its stamp in ns
        self._lesson: Any = None
        self._object = -1
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("camera", context=self._context)
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._publisher = self._node.create_publisher(Image, "image", 10)
        topic = "object_recognition/recognition"
        self._node.create_subscription(Recognition, topic, self._on_recognition, 100)
        self._client = self._node.create_client(TeachObject, "object_recognition/teach")
        self._message = Image(height=SIZE, width=SIZE, step=3 * SIZE, encoding="rgb8")
        self._views = [views(index) for index in range(N_OBJECTS)]
        return self

    def __exit__(self, *_: object) -> None:
        import rclpy

        self._executor.shutdown()
        with giving_way():
            self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def wait_for_nodes(self, processes: Processes) -> None:
        """Wait until both nodes run and a first frame has been recognized."""
        deadline = time.monotonic() + 60.0
        while not self.delays:
            processes.check()
            if time.monotonic() > deadline:
                raise TimeoutError("no recognition within 60 s")
            if self._client.service_is_ready():
                self._publish(0)
            self._spin(0.2)
        self._spin(1.0)
        self.delays, self.learned, self.sent = [], 0, 0

    def show(self, rate: float, seconds: float) -> None:
        """Publish frames at `rate` [1/s], those of one object until its lesson is over."""
        start = time.monotonic()
        for index in range(int(rate * seconds)):
            self._teach()
            self._publish(index)
            self._spin(start + (index + 1) / rate - time.monotonic())
        self._spin(start + seconds - time.monotonic())

    def _publish(self, index: int) -> None:
        import array

        self.sent += 1
        number = self._message.header.stamp.nanosec + 1
        self._message.header.stamp.nanosec = number
        view = self._views[self._object % N_OBJECTS][index % len(self._views[0])]
        self._message.data = array.array("B", view.tobytes())
        self._sent_at[number] = time.monotonic()
        self._publisher.publish(self._message)

    def _teach(self) -> None:
        from icub_learning_msgs.srv import TeachObject

        if self._lesson is not None and not self._lesson.done():
            return
        if self._lesson is not None:
            self.learned += self._lesson.result().n_examples
        self._object += 1
        label = f"object {self._object % N_OBJECTS}"
        self._lesson = self._client.call_async(TeachObject.Request(label=label, n_frames=LESSON, timeout=30.0))

    def _on_recognition(self, message: Any) -> None:
        self.delays.append(time.monotonic() - self._sent_at.pop(message.header.stamp.nanosec))

    def _spin(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)


def views(index: int, count: int = 8) -> NDArray[np.uint8]:
    """Return (count, SIZE, SIZE, 3) pictures of one object: its own smooth coloured waves, shifted, with some noise."""
    rng = np.random.default_rng(index)
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    waves = rng.normal(0.0, 15.0, (3, 4, 2))
    pictures = []
    for _ in range(count):
        shift = rng.uniform(0.0, 1.0, 2)
        planes = [np.sin(k[:, 0, None, None] * (x + shift[0]) + k[:, 1, None, None] * (y + shift[1])) for k in waves]
        picture = 128 + 30 * np.stack([plane.sum(axis=0) for plane in planes], axis=2)
        pictures.append(np.clip(picture + rng.normal(0.0, 8.0, picture.shape), 0, 255))
    return np.array(pictures, np.uint8)
