"""The camera of the simulated iCub: images of the object in its hand, rendered by a separate process."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import Image
from std_msgs.msg import String

from icub_learning.nodes.common.conversions import NANOSECONDS
from icub_learning.nodes.common.diagnostics import status_of
from icub_learning.nodes.common.image_messages import image_message
from icub_learning.nodes.common.qos import STATE
from icub_learning.settings import setting
from icub_learning.simulation.objects.eye_process import EyeProcess

IMAGE_QOS = QoSProfile(depth=2)  # images are large and only the newest matters


@dataclass(frozen=True)
class CameraSettings:
    """Settings of the camera of the simulated iCub."""

    object: str = setting("duck", "object in the other hand from the start; empty: none")
    objects_folder: str = setting(
        "", "folder of meshes or URDFs to show, named after their files; empty: the environment variable"
        " ICUB_LEARNING_OBJECTS, else those of pybullet_data",
    )  # fmt: skip
    image_rate: float = setting(
        10.0, "images per simulated second, as far as rendering keeps up; 0: none", unit="Hz", low=0.0, high=60.0
    )
    image_width: int = setting(224, "width of the images", unit="px", low=16, high=2048)
    image_height: int = setting(224, "height of the images", unit="px", low=16, high=2048)
    field_of_view: float = setting(
        45.0, "field of view along the shorter side of the images", unit="deg", low=5.0, high=120.0
    )


class _ObjectRequest(NamedTuple):
    name: str
    future: Future | None = None  # None for the object that is shown from the start

    def answer(self, refusal: str) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_result(refusal)


class ObjectCamera:
    """Publishes `image` while it has subscribers, and `~/truth/object`; starts its process when it is first needed.

    `parameters` are CameraSettings, with `seed` and `side` of the simulation: the other arm shows the object.
    """

    def __init__(self, node: LifecycleNode, parameters: dict[str, Any]) -> None:
        self._node = node
        side = "left" if parameters["side"] == "right" else "right"
        size = (parameters["image_width"], parameters["image_height"])
        self._settings = {name: parameters[name] for name in ("seed", "field_of_view")}
        self._settings |= {"size": size, "folder": parameters["objects_folder"], "side": side}
        self._period = round(NANOSECONDS / parameters["image_rate"]) if parameters["image_rate"] else 0
        self._images = node.create_lifecycle_publisher(Image, "image", IMAGE_QOS)
        self._truth = node.create_lifecycle_publisher(String, "~/truth/object", STATE)
        self._frame = f"{side[0]}_eye"
        self._eye: EyeProcess | None = None
        self._shown = ""
        self._requests: list[_ObjectRequest] = [_ObjectRequest(parameters["object"])]
        self._current: Any = 0  # what the process works on: a request, or the stamp of an image [ns]
        self._next = 0  # stamp at which the next image is due [ns]
        self._failure, self._published = "", 0

    def show(self, name: str) -> Future:
        """Request an object in the hand; the future holds "" when it is shown, or why nothing changed."""
        future: Future = Future(executor=self._node.executor)
        if self._period:
            self._requests.append(_ObjectRequest(name, future))
        else:
            future.set_result("there are no images: image_rate is 0")
        return future

    def update(self, stamp: int) -> None:
        """Publish the image that has been rendered, and request the one that is due at `stamp` [ns]; never waits."""
        if self._eye is None:
            if self._period and (len(self._requests) > 1 or self._images.get_subscription_count()):
                self._eye = EyeProcess(self._settings)
            return
        if (answer := self._eye.answer()) is not None:
            self._take(answer)
        if self._eye.busy:
            return
        if self._requests:
            if self._eye.ended:  # after a crash of the graphics driver, say: try again with the next object
                self._eye.close()
                self._eye = EyeProcess(self._settings)
            self._current = self._requests.pop(0)
            self._eye.show(self._current.name)
        elif not self._failure and stamp >= self._next and self._images.get_subscription_count():
            self._current = stamp
            self._eye.render(stamp / NANOSECONDS)
            self._next = max(self._next + self._period, stamp - self._period)

    def deactivate(self, reason: str) -> None:
        current = [self._current] if isinstance(self._current, _ObjectRequest) else []
        for request in [*self._requests, *current]:
            request.answer(reason)
        self._requests = [request for request in self._requests if request.future is None]

    def drop(self) -> None:
        self.deactivate("the node has been cleaned up")
        if self._eye is not None:
            self._eye.close()

    def publish_truth(self) -> None:
        self._truth.publish(String(data=self._shown))

    def status(self) -> DiagnosticStatus:
        level, message = DiagnosticStatus.OK, "no image has been asked for" if self._eye is None else "rendering"
        if self._failure:
            level, message = DiagnosticStatus.WARN, self._failure
        return status_of(self._node, "image", level, message, {"object": self._shown, "images": self._published})

    def _take(self, answer: NDArray[np.uint8] | str) -> None:
        """Handle an answer: an image, why an image or object could not be shown, or "" for an object that is shown."""
        current = self._current
        if not isinstance(answer, str):
            self._images.publish(image_message(answer, current, self._frame))
            self._published += 1
            return
        if isinstance(current, _ObjectRequest):
            current.answer(answer)
            if not answer:
                self._shown, self._failure = current.name, ""
                self.publish_truth()
        if answer and getattr(current, "future", None) is None:  # a request gets the reason as its answer
            self._failure = answer
            self._node.get_logger().warning(f"no images: {answer}")
