"""The camera of the simulated iCub: images of the object in its hand, rendered by a process of their own."""

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import Image
from std_msgs.msg import String

from icub_learning.nodes.common.conversions import NANOSECONDS, set_stamp
from icub_learning.settings import setting
from icub_learning.simulation.objects.eye_process import EyeProcess, EyeSettings

IMAGE_QOS = QoSProfile(depth=2)
STATE_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True)
class CameraSettings:
    """Settings of the camera of the simulated iCub."""

    object: str = setting("duck", "object in the other hand from the start; empty: none")
    objects_folder: str = setting(
        "",
        "folder of meshes or URDFs to show, named after their files; empty: the environment variable"
        " ICUB_LEARNING_OBJECTS, else those of pybullet_data",
    )
    image_rate: float = setting(
        10.0, "images per simulated second, as far as rendering keeps up; 0: none", unit="Hz", low=0.0, high=60.0
    )
    image_width: int = setting(224, "width of the images", unit="px", low=16, high=2048)
    image_height: int = setting(224, "height of the images", unit="px", low=16, high=2048)
    field_of_view: float = setting(
        45.0, "field of view along the shorter side of the images", unit="deg", low=5.0, high=120.0
    )


@dataclass
class _Wish:
    """An object that is to be shown, and who waits for the answer."""

    name: str
    future: Future | None = None

    def answer(self, why: str) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_result(why)


class ObjectCamera:
    """Publishes `image` while somebody listens, and `~/truth/object`; starts its process when it is first needed.

    Args:
        node: whose topics these are.
        parameters: values of CameraSettings, and `seed` and `side` of the simulation: the other arm shows the object.
    """

    def __init__(self, node: LifecycleNode, parameters: dict[str, Any]) -> None:
        self._node = node
        side = "left" if parameters["side"] == "right" else "right"
        size = (parameters["image_width"], parameters["image_height"])
        self._settings = EyeSettings(
            seed=parameters["seed"],
            size=size,
            folder=parameters["objects_folder"],
            side=side,
            field_of_view=parameters["field_of_view"],
        )
        self._period = round(NANOSECONDS / parameters["image_rate"]) if parameters["image_rate"] else 0
        self._images = node.create_lifecycle_publisher(Image, "image", IMAGE_QOS)
        self._truth = node.create_lifecycle_publisher(String, "~/truth/object", STATE_QOS)
        self._message = Image(encoding="rgb8", width=size[0], height=size[1], step=3 * size[0])
        self._message.header.frame_id = f"{side[0]}_eye"
        self._eye: EyeProcess | None = None
        self.shown = ""
        # Objects to come, each with whoever waits for it; and what the process is at: one of these or, of an image,
        # the stamp [ns].
        self._wanted: list[_Wish] = [_Wish(parameters["object"])]
        self._under_way: _Wish | int = 0
        self._next = 0  # stamp from which on the next image is due [ns]
        self._failure = ""
        self._published = 0

    def show(self, name: str) -> Future:
        """Ask for an object in the hand; the future holds "" when it is there, or why not (as before, then)."""
        future: Future = Future(executor=self._node.executor)
        if self._period:
            self._wanted.append(_Wish(name, future))
        else:
            future.set_result("there are no images: image_rate is 0")
        return future

    def activate(self) -> None:
        """Say what is in the hand."""
        self._publish_truth()

    def update(self, stamp: int) -> None:
        """Publish what has been rendered and ask for what is due, at a simulated time [ns]; never waits."""
        if self._eye is None:
            if self._period and (len(self._wanted) > 1 or self._images.get_subscription_count()):
                self._eye = EyeProcess(self._settings)
            return
        answer = self._eye.answer()
        if isinstance(answer, str):
            self._take_word(answer)
        elif answer is not None:
            self._publish(answer)
        if self._eye.busy:
            return
        if self._wanted:
            if self._eye.ended:  # as after a crash of the graphics driver: another object, another try
                self._eye.close()
                self._eye = EyeProcess(self._settings)
            self._under_way = self._wanted.pop(0)
            self._eye.show(self._under_way.name)
        elif not self._failure and stamp >= self._next and self._images.get_subscription_count():
            self._under_way = stamp
            self._eye.render(stamp / NANOSECONDS)
            self._next = max(self._next + self._period, stamp - self._period)

    def deactivate(self, why: str) -> None:
        """Answer whoever still waits for an object."""
        waiting = [*self._wanted, *([self._under_way] if isinstance(self._under_way, _Wish) else [])]
        for wish in waiting:
            wish.answer(why)
        self._wanted = [wish for wish in self._wanted if wish.future is None]

    def drop(self) -> None:
        """End the process and the topics."""
        self.deactivate("the node has been cleaned up")
        if self._eye is not None:
            self._eye.close()
        for publisher in (self._images, self._truth):
            self._node.destroy_lifecycle_publisher(publisher)

    def status(self) -> DiagnosticStatus:
        """Return what diagnostics say of the images."""
        name = self._node.get_name()
        status = DiagnosticStatus(name=f"{name}: image", hardware_id=name, level=DiagnosticStatus.OK)
        status.message = "no image has been asked for" if self._eye is None else "rendering"
        if self._failure:
            status.level, status.message = DiagnosticStatus.WARN, self._failure
        pairs = {"object": self.shown, "images": self._published}
        status.values = [KeyValue(key=key, value=str(value)) for key, value in pairs.items()]
        return status

    def _take_word(self, word: str) -> None:
        """The answer to a change of the object, or why there is no image."""
        wish = self._under_way
        if not isinstance(wish, _Wish):
            self._fail(word)
        elif not word:
            self.shown, self._failure = wish.name, ""
            self._publish_truth()
        elif wish.future is None:
            self._fail(word)
        if isinstance(wish, _Wish):
            wish.answer(word)

    def _fail(self, why: str) -> None:
        self._failure = why
        self._node.get_logger().warning(f"no images: {why}")

    def _publish(self, picture: NDArray[np.uint8]) -> None:
        if not isinstance(self._under_way, int):
            return
        set_stamp(self._message.header.stamp, self._under_way)
        self._message.data = array("B", picture.tobytes())
        self._images.publish(self._message)
        self._published += 1

    def _publish_truth(self) -> None:
        self._truth.publish(String(data=self.shown))
