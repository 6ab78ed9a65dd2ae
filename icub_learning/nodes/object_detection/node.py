"""The node that finds objects in images, and learns new ones while it keeps finding the old ones."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.detection import OnlineDetector, saved_model
from icub_learning.detection.bootstrap import Bootstrap
from icub_learning.detection.boxes import Detections as Found
from icub_learning.detection.drawing import annotated
from icub_learning.detection.settings import OWN_BOXES, Settings
from icub_learning.errors import IcubLearningError, RecognitionError, SampleError, StateError
from icub_learning.models.header import ModelHeader
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.diagnostics import StreamReport, publish_every
from icub_learning.nodes.common.image_messages import detection_array, image_message, rgb_of, vision_msgs
from icub_learning.nodes.common.image_subscription import ImageSettings, NewestImages
from icub_learning.nodes.common.model_keeper import ModelSettings
from icub_learning.nodes.common.qos import SENSOR, STREAM
from icub_learning.nodes.common.spinning import LifecycleSettings, run
from icub_learning.nodes.common.taught_node import TaughtNode, list_objects
from icub_learning.nodes.common.timing import DurationWindow
from icub_learning.nodes.object_detection.teaching import Teaching
from icub_learning.settings import pick, setting, settings_of
from icub_learning_msgs.msg import Detection, Detections
from icub_learning_msgs.srv import ForgetObject, ListObjects, ModelFile, TeachDetection


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself, beside those of detection."""

    box_source: str = setting(
        "motion",
        "where the box of an object comes from in a lesson that gives neither a source nor a box: motion, boxes, or a"
        " class of your own", choices=("motion", "boxes"), methods=OWN_BOXES,
    )  # fmt: skip
    collect_rate: float = setting(
        5.0, "images per second that are learned from during a lesson, at most", unit="Hz", low=0.1, high=100.0
    )
    min_frames: int = setting(5, "images that a lesson needs at least", low=1, high=10000)


PARAMETERS = settings_of(LifecycleSettings, Settings, NodeSettings, ImageSettings, ModelSettings)


class ObjectDetectionNode(TaughtNode):
    """Subscribes to images, publishes detections, and learns objects by services; see docs/ros_interface.md."""

    def _configure(self, settings: dict[str, Any]) -> None:
        self._detector = OnlineDetector(
            settings["n_centers"], settings["seed"],
            bootstrap=Bootstrap(n_batches=settings["n_batches"], batch_size=settings["batch_size"]),
            **{name: settings[name] for name in ("n_proposals", "threshold", "n_threads")},
        )  # fmt: skip
        self._settings = own = pick(Settings, settings)
        largest, restored = partial(saved_model.largest_bytes, own), partial(saved_model.restored, self._detector)
        self._detector = self._keep_model(settings, largest, restored) or self._detector
        period, few, source = 1.0 / settings["collect_rate"], settings["min_frames"], settings["box_source"]
        self._teaching = Teaching(period, few, self._lesson_finished, source)
        self._report, self._n_images = StreamReport(self, "detection", "no images arrive"), 0
        self._latency = DurationWindow(500)  # time from an image's callback to the publication of its detections
        self._training = DurationWindow()
        self._newest: Any = None  # newest RGB image
        self._vision = vision_msgs()
        self._publisher = self.create_lifecycle_publisher(Detections, "~/detections", STREAM)
        self._annotated = self.create_lifecycle_publisher(Image, "~/annotated", STREAM)
        if self._vision is not None:
            kind = self._vision.Detection2DArray
            self._boxes_2d = self.create_lifecycle_publisher(kind, "~/detections_2d", STREAM)
        self._images = NewestImages(self, settings["reliability"], self._work)
        self.create_subscription(Detections, "boxes", self._on_boxes, SENSOR)
        self.create_service(TeachDetection, "~/teach_detection", self._teach)
        self.create_service(ForgetObject, "~/forget_object", self._forget)
        self.create_service(ListObjects, "~/list_objects", self._list)
        self.create_service(ModelFile, "~/save_model", self._save)
        self.create_service(ModelFile, "~/load_model", self._load)
        publish_every(self, settings["report_period"], self._statuses)
        known = len(self._detector.counts)
        self.get_logger().info(f"regions from {self._detector.source}; {known or 'no'} objects are known")

    def _describe(self) -> ModelHeader:
        return saved_model.describe(self._settings, self._detector)

    def _state(self) -> dict[str, Any]:
        return saved_model.state_of(self._detector)

    def _start(self) -> None:
        self._images.start()

    def _stop(self, reason: str) -> None:
        self._images.stop()
        self._save_now()  # a training under way may last longer than whoever ends this process waits
        self._teaching.stop(reason)  # a lesson that collects images is dropped

    def _on_boxes(self, message: Detections) -> None:
        boxes = {one.label: np.array(one.box, dtype=float) for one in message.detections}
        self._teaching.report(stamp_to_ns(message.header.stamp), boxes)

    def _work(self, message: Image | CompressedImage, arrival: float) -> None:
        """Find objects in an image, and show it to the lesson; runs in a thread of its own."""
        lesson = self._teaching.lesson  # a lesson that begins meanwhile does not get this image
        image = self._newest = rgb_of(message)
        try:
            self._publish(message, image, self._detector.detect(image))
            self._n_images += 1
            self._latency.add(time.perf_counter() - arrival)
            if lesson is not None:
                self._teaching.see(lesson, stamp_to_ns(message.header.stamp), image)
        except IcubLearningError as error:
            raise SampleError("image", str(error)) from error

    def _publish(self, message: Any, image: Any, found: Found) -> None:
        entries = zip(found.labels, found.scores.tolist(), found.boxes.tolist(), strict=True)
        detections = [Detection(label=label, score=score, box=box) for label, score, box in entries]
        self._publisher.publish(Detections(header=message.header, detections=detections))
        if self._vision is not None:
            self._boxes_2d.publish(detection_array(self._vision, message.header, found))
        if self._annotated.get_subscription_count():
            picture = image_message(annotated(image, found), 0)
            picture.header = message.header
            self._annotated.publish(picture)

    async def _teach(self, request: TeachDetection.Request, response: TeachDetection.Response) -> str:
        """Answer when the lesson is over; meanwhile the executor handles images and other services."""
        if not self.active:
            raise RecognitionError("cannot teach now: the node is not active", name="teach")
        lesson = self._teaching.start(self._detector, request, self._newest)
        learned, message = await self._end_of_lesson(request.seconds, self._teaching.end)
        if not learned:
            raise RecognitionError(message, name="teach")
        response.n_frames = lesson.n_taken
        return message

    def _lesson_finished(self, student: OnlineDetector | None, message: str, seconds: float) -> None:
        """Keep the newly trained detector for the next image; may run in the training thread."""
        if student is not None:
            student.threshold, self._detector = self._detector.threshold, student
            self._revision += 1
            self._training.add(seconds)
        self._lesson_over.set_result((student is not None, message))

    def _forget(self, request: ForgetObject.Request, _response: Any) -> str:
        self._teaching.check_free("forget")
        left = self._detector.copy()
        left.forget(request.label)
        self._detector = left
        self._revision += 1
        return f"forgot '{request.label}'"

    def _list(self, _request: ListObjects.Request, response: ListObjects.Response) -> ListObjects.Response:
        return list_objects(response, self._detector.counts)

    async def _save(self, request: ModelFile.Request, _response: Any) -> str:
        self._teaching.check_free("save")
        if not self._detector.labels:
            raise StateError("nothing has been taught yet", name="detector")
        return await self._write(request.path, self._detector.state)

    async def _load(self, request: ModelFile.Request, _response: Any) -> str:
        self._teaching.check_free("load")
        state = await self._read(request.path)
        self._teaching.check_free("load")  # a lesson may have begun while the file was read
        self._detector = saved_model.restored(self._detector, state)
        self._revision += 1
        return f"loaded {len(self._detector.labels)} objects"

    def _statuses(self) -> list[DiagnosticStatus]:
        counts, doing, n_images = self._detector.counts, self._teaching.doing, self._n_images
        rate = self._report.rate(n_images)
        values = {
            "images": n_images, "rate [Hz]": f"{rate:.1f}", "dropped for a newer image": self._images.dropped,
            "objects": len(counts), "frames learned": sum(counts.values()), "lesson": doing or "none",
            "latency, arrival to publication": self._latency.summary(), "training": self._training.summary(),
            **self._keeper.status(),
        }  # fmt: skip
        running = f"{doing or f'looking for {len(counts)} objects'} at {rate:.1f} Hz"
        return [self._report.report(rate, self._keeper.verdict(running), values)]

    def _on_parameter(self, name: str, value: Any) -> None:
        if name == "threshold":
            self._detector.threshold = value


main = partial(run, partial(ObjectDetectionNode, "object_detection", PARAMETERS))

if __name__ == "__main__":
    raise SystemExit(main())
