"""The node that finds objects in images, and learns new ones while it goes on with the old."""

import time
import traceback
from collections import deque
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.arrays import Array
from icub_learning.detection import saved_model
from icub_learning.detection.bootstrap import Bootstrap
from icub_learning.detection.box_sources import DetectionLesson
from icub_learning.detection.boxes import Detections as Found
from icub_learning.detection.detector import OnlineDetector
from icub_learning.detection.drawing import annotated
from icub_learning.detection.settings import Settings
from icub_learning.errors import IcubLearningError, RecognitionError, SampleError, StateError
from icub_learning.models.header import ModelHeader
from icub_learning.nodes.common import parameters
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.diagnostics import publish_every
from icub_learning.nodes.common.image_messages import image_message, rgb_of
from icub_learning.nodes.common.model_keeper import finished
from icub_learning.nodes.common.newest_images import NewestImages
from icub_learning.nodes.common.qos import SENSOR, STREAM
from icub_learning.nodes.common.spinning import run, transition
from icub_learning.nodes.common.taught_node import TaughtNode, list_objects
from icub_learning.nodes.common.vision_messages import detection_array, vision_msgs
from icub_learning.nodes.object_detection.parameters import PARAMETERS
from icub_learning.nodes.object_detection.report import DetectionReport
from icub_learning.nodes.object_detection.teaching import Teaching
from icub_learning.settings import pick
from icub_learning_msgs.msg import Detection, Detections
from icub_learning_msgs.srv import ForgetObject, ListObjects, ModelFile, TeachDetection

MOST_BOXES = 50  # messages with boxes of other nodes that wait for their images


class ObjectDetectionNode(TaughtNode):
    """Subscribes to images, publishes detections, and learns objects by services; see docs/ros_interface.md.

    A thread decodes images and detects, always in the newest; another one trains during a lesson.
    """

    def __init__(self) -> None:
        super().__init__("object_detection", PARAMETERS, self._on_parameter)

    @transition
    def on_configure(self) -> None:
        """Load the network, and make topics, services and timers."""
        settings = parameters.values(self, PARAMETERS)
        self._detector = OnlineDetector(
            settings["n_centers"],
            bootstrap=Bootstrap(n_batches=settings["n_batches"], batch_size=settings["batch_size"]),
            **{name: settings[name] for name in ("n_proposals", "threshold", "n_threads")},
        )
        self._settings = own = pick(Settings, settings)
        restored = self._keep_model(
            settings, lambda: saved_model.largest_bytes(own), lambda state: saved_model.restored(self._detector, state)
        )
        self._detector = restored or self._detector
        self._teaching = Teaching(
            1.0 / settings["collect_rate"], settings["min_frames"], self._lesson_finished, settings["box_source"]
        )
        self._report = DetectionReport(self)
        self._newest: Any = None  # image, RGB
        self._boxes: deque[tuple[int, dict[str, Array]]] = deque(maxlen=MOST_BOXES)
        self._vision = vision_msgs()
        self._publisher = self.create_lifecycle_publisher(Detections, "~/detections", STREAM)
        self._annotated = self.create_lifecycle_publisher(Image, "~/annotated", STREAM)
        if self._vision is not None:
            kind = self._vision.Detection2DArray
            self._boxes_2d = self.create_lifecycle_publisher(kind, "~/detections_2d", STREAM)
        self._images = NewestImages(self, settings["reliability"], self._work)
        self.create_subscription(Detections, "boxes", self._on_boxes, SENSOR)
        services = (
            (TeachDetection, "~/teach_detection", self._teach),
            (ForgetObject, "~/forget_object", self._forget),
            (ListObjects, "~/list_objects", self._list),
            (ModelFile, "~/save_model", self._save),
            (ModelFile, "~/load_model", self._load),
        )
        for kind, name, call in services:
            self.create_service(kind, name, call)
        publish_every(self, settings["report_period"], self._statuses)
        self._configured = True
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
        self._teaching.stop(reason)  # a lesson that collects images is dropped

    def _on_boxes(self, message: Detections) -> None:
        boxes = {one.label: np.array(one.box, dtype=float) for one in message.detections}
        self._boxes.append((stamp_to_ns(message.header.stamp), boxes))

    def _work(self, message: Image | CompressedImage, arrival: float) -> None:
        """Decode an image, detect, publish, and show it to a lesson; runs in the worker's thread."""
        lesson = self._teaching.lesson  # one that begins meanwhile has nothing to do with this image
        try:
            image = rgb_of(message)
            self._newest = image
            found = self._detector.detect(image)
            self._publish(message, image, found)
            self._report.images += 1
            self._report.detection.add(time.perf_counter() - arrival)
            self._show(lesson, stamp_to_ns(message.header.stamp), image)
        except SampleError as error:
            self._report.refused(error)
        except IcubLearningError as error:
            self._report.refused(SampleError("image", str(error)))
        except Exception as error:  # a node never dies of a message
            self.get_logger().error(traceback.format_exc())
            self._report.refused(SampleError("internal", str(error)))

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

    def _show(self, lesson: DetectionLesson | None, stamp: int, image: Any) -> None:
        if lesson is not None:
            box = next((boxes.get(lesson.label) for when, boxes in list(self._boxes) if when == stamp), None)
            self._teaching.see(lesson, stamp, image, box)

    async def _teach(self, request: TeachDetection.Request, response: Any) -> Any:
        """Answer when the lesson is over; meanwhile the executor handles images and other services."""
        try:
            if not self._active:
                raise RecognitionError("cannot teach now: the node is not active", name="teach")
            lesson = self._teaching.start(
                self._detector, request.label, request.seconds, request.source, request.box, self._newest
            )
        except IcubLearningError as error:
            return self._refuse(response, str(error))
        learned, message = await self._end_of_lesson(request.seconds, self._teaching.end)
        if not learned:
            return self._refuse(response, message)
        response.success, response.message, response.n_frames = True, message, lesson.n_taken
        return response

    def _lesson_finished(self, student: OnlineDetector | None, message: str, seconds: float) -> None:
        """Keep the newly trained detector for the next image; may run in the training thread."""
        if student is not None:
            student.threshold = self._detector.threshold
            self._detector = student
            self._revision += 1
            self._report.training.add(seconds)
        self._lesson_over.set_result((student is not None, message))

    def _forget(self, request: ForgetObject.Request, response: ForgetObject.Response) -> ForgetObject.Response:
        def forget() -> str:
            self._teaching.check_free("forget")
            left = self._detector.copy()
            left.forget(request.label)
            self._detector = left
            self._revision += 1
            return f"forgot '{request.label}'"

        return self._answer(response, forget)

    def _list(self, _request: ListObjects.Request, response: ListObjects.Response) -> ListObjects.Response:
        return list_objects(response, self._detector.counts)

    async def _save(self, request: ModelFile.Request, response: ModelFile.Response) -> ModelFile.Response:
        async def save(deadline: float) -> str:
            self._teaching.check_free("save")
            if not self._detector.labels:
                raise StateError("nothing has been taught yet", name="detector")
            return await self._write(request.path, self._detector.state, deadline)

        return await self._answer_later(response, save)

    async def _load(self, request: ModelFile.Request, response: ModelFile.Response) -> ModelFile.Response:
        async def load(deadline: float) -> str:
            self._teaching.check_free("load")
            state = await finished(self._keeper.read(request.path), deadline)
            self._teaching.check_free("load")  # a lesson may have begun while the file was read
            self._detector = saved_model.restored(self._detector, state)
            self._revision += 1
            return f"loaded {len(self._detector.labels)} objects"

        return await self._answer_later(response, load)

    def _statuses(self) -> list[DiagnosticStatus]:
        counts, doing, dropped = self._detector.counts, self._teaching.doing, self._images.dropped
        return [self._report.status(counts, doing, self._keeper, self._active, dropped)]

    def _on_parameter(self, name: str, value: Any) -> None:
        if self._configured and name == "threshold":
            self._detector.threshold = value


main = partial(run, ObjectDetectionNode)

if __name__ == "__main__":
    raise SystemExit(main())
