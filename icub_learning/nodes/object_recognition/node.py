"""The node that people teach objects: it recognizes each feature vector, and learns those that come during a lesson."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rclpy.timer import Timer
from std_srvs.srv import Trigger

from icub_learning.arrays import real
from icub_learning.errors import IcubLearningError, RecognitionError, SampleError
from icub_learning.models import load_state, save_state
from icub_learning.nodes.common import parameters
from icub_learning.nodes.common.conversions import doubles, stamp_to_ns
from icub_learning.nodes.common.spinning import run, transition
from icub_learning.nodes.object_recognition.parameters import PARAMETERS
from icub_learning.nodes.object_recognition.report import RecognitionReport
from icub_learning.nodes.object_recognition.waiting import Waiting
from icub_learning.recognition import assembly
from icub_learning.recognition.recognizer import ObjectRecognizer
from icub_learning.settings import pick
from icub_learning_msgs.msg import FeatureVector, ObjectList, Recognition
from icub_learning_msgs.srv import ForgetObject, ListObjects, ModelFile, RenameObject, TeachObject

SENSOR_QOS = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
STREAM_QOS = QoSProfile(depth=10)
STATE_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LONGEST_LESSON = 3600.0  # [s]


class ObjectRecognitionNode(LifecycleNode):
    """Subscribes to features, publishes what is seen, offers to be taught; see docs/ros_interface.md."""

    def __init__(self) -> None:
        super().__init__("object_recognition")
        parameters.declare(self, PARAMETERS, self._on_parameter)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)  # a person waits, whatever simulated time does
        self._recognizer: ObjectRecognizer  # from configure to cleanup
        self._lesson_over: Future  # of the lesson under way: why it failed, or ""
        self._repeat_timer: Timer | None = None
        self._configured = self._active = False

    @transition
    def on_configure(self) -> None:
        """Build the recognizer from the parameters, and everything that talks to it."""
        settings = parameters.values(self, PARAMETERS)
        self._recognizer = assembly.make_recognizer(pick(assembly.Settings, settings))
        self._message: Recognition | None = None  # the newest, published again and again at publish_rate
        self._make_endpoints()
        self._report = RecognitionReport(self)
        self._report_timer = self.create_timer(settings["report_period"], self._publish_report, clock=self._steady)
        self._configured = True
        self._repeat(settings["publish_rate"])
        self.get_logger().info(f"classifier {settings['classifier']}; nothing has been taught yet")

    @transition
    def on_activate(self) -> None:
        """Start to recognize."""
        super().on_activate(None)
        self._active = True
        self._publish_objects()

    @transition
    def on_deactivate(self) -> None:
        """Stop to recognize; what was learned stays, but a lesson under way is taken back."""
        self._stop("the node was deactivated")
        super().on_deactivate(None)

    @transition
    def on_cleanup(self) -> None:
        """Drop recognizer and endpoints."""
        self._drop()

    @transition
    def on_shutdown(self) -> None:
        """As on_cleanup."""
        self._drop()

    def _make_endpoints(self) -> None:
        self._recognitions = self.create_lifecycle_publisher(Recognition, "~/recognition", STREAM_QOS)
        self._objects = self.create_lifecycle_publisher(ObjectList, "~/objects", STATE_QOS)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", STREAM_QOS)
        self._features = self.create_subscription(FeatureVector, "features", self._on_features, SENSOR_QOS)
        services = (
            (TeachObject, "~/teach", self._teach),
            (ForgetObject, "~/forget_object", self._forget_object),
            (RenameObject, "~/rename_object", self._rename_object),
            (ListObjects, "~/list_objects", self._list_objects),
            (ModelFile, "~/save_model", self._save_model),
            (ModelFile, "~/load_model", self._load_model),
            (ModelFile, "~/merge_model", self._merge_model),
            (Trigger, "~/reset", self._reset),
        )
        self._services_made = [self.create_service(kind, name, call) for kind, name, call in services]

    def _stop(self, reason: str) -> None:
        self._end_lesson(reason)
        self._active = False

    def _drop(self) -> None:
        if not self._configured:
            return
        self._stop("the node was shut down")
        self._configured = False
        self._repeat(0.0)
        self.destroy_timer(self._report_timer)
        self.destroy_subscription(self._features)
        for service in self._services_made:
            self.destroy_service(service)
        for publisher in (self._recognitions, self._objects):
            self.destroy_lifecycle_publisher(publisher)
        self.destroy_publisher(self._diagnostics)

    def _on_features(self, message: FeatureVector) -> None:
        if not self._active:
            return
        arrival = time.perf_counter()
        stamp = stamp_to_ns(message.header.stamp)
        try:
            seen = self._recognizer.recognize(stamp, message.source, message.values)
        except SampleError as error:
            self._report.refused(error)
            return
        self._message = Recognition(
            header=message.header, label=seen.label, confidence=seen.confidence, labels=seen.labels
        )
        self._message.scores = doubles(seen.scores)
        if self._repeat_timer is None:
            self._recognitions.publish(self._message)
        self._report.latency.add(time.perf_counter() - arrival)
        self._learn()

    def _learn(self) -> None:
        start = time.perf_counter()
        try:
            learned = self._recognizer.learn()
        except IcubLearningError as error:
            self._end_lesson(str(error))
            return
        if learned:
            self._report.learning.add(time.perf_counter() - start)
            if self._recognizer.lesson is not None and self._recognizer.lesson.done:
                self._end_lesson("")

    async def _teach(self, request: TeachObject.Request, response: TeachObject.Response) -> TeachObject.Response:
        """Answers when the lesson is over; meanwhile the executor goes on with features and other services."""
        try:
            if not self._active:
                raise RecognitionError("cannot teach now: the node is not active", name="teach")
            timeout = real("timeout", request.timeout, 0.0, LONGEST_LESSON, low_open=True)
            lesson = self._recognizer.start_lesson(request.label, request.n_frames)
        except IcubLearningError as error:
            return self._refuse(response, str(error))
        self._lesson_over = Future(executor=self.executor)
        late = f"timed out after {timeout:g} s"
        timer = self.create_timer(timeout, lambda: self._end_lesson(late), clock=self._steady)
        failure: str = await Waiting(self._lesson_over)
        self.destroy_timer(timer)
        if failure:
            return self._refuse(response, failure)
        response.success, response.n_examples = True, lesson.n_taken
        response.message = f"learned {lesson.n_taken} frames of '{lesson.label}'"
        return response

    def _end_lesson(self, why: str) -> None:
        """End the lesson under way, if there is one; unless it is done, it is taken back, and `why` is answered."""
        lesson = self._recognizer.lesson
        if lesson is None:
            return
        self._recognizer.end_lesson()
        if lesson.done:
            self._publish_objects()
            self._lesson_over.set_result("")
        else:
            came = lesson.progress()
            self._lesson_over.set_result(f"{why}: '{lesson.label}' was not learned, what came is taken back ({came})")

    def _forget_object(self, request: ForgetObject.Request, response: ForgetObject.Response) -> ForgetObject.Response:
        def forget() -> str:
            self._recognizer.forget(request.label)
            return f"forgot '{request.label}'"

        return self._change(response, forget)

    def _rename_object(self, request: RenameObject.Request, response: RenameObject.Response) -> RenameObject.Response:
        def rename() -> str:
            self._recognizer.rename(request.old_label, request.new_label)
            return f"'{request.old_label}' is now '{request.new_label}'"

        return self._change(response, rename)

    def _list_objects(self, _request: ListObjects.Request, response: ListObjects.Response) -> ListObjects.Response:
        objects = self._recognizer.objects()
        response.success, response.labels, response.counts = True, list(objects), list(objects.values())
        known = ", ".join(f"{label} ({count})" for label, count in objects.items())
        response.message = known or "nothing has been taught yet"
        return response

    def _save_model(self, request: ModelFile.Request, response: ModelFile.Response) -> ModelFile.Response:
        return self._answer(response, lambda: f"saved to {save_state(request.path, self._recognizer.saved())}")

    def _load_model(self, request: ModelFile.Request, response: ModelFile.Response) -> ModelFile.Response:
        def load() -> str:
            self._recognizer.load(load_state(request.path))
            return f"loaded {len(self._recognizer.objects())} objects"

        return self._change(response, load)

    def _merge_model(self, request: ModelFile.Request, response: ModelFile.Response) -> ModelFile.Response:
        def merge() -> str:
            self._recognizer.merge(load_state(request.path))
            return f"merged; {len(self._recognizer.objects())} objects are known now"

        return self._change(response, merge)

    def _reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        def reset() -> str:
            self._recognizer.reset()
            return "all objects are forgotten"

        return self._change(response, reset)

    def _change(self, response: Any, act: Callable[[], str]) -> Any:
        """As `_answer`; tells subscribers which objects there are now."""
        response = self._answer(response, act)
        if response.success:
            self._publish_objects()
        return response

    def _answer(self, response: Any, act: Callable[[], str]) -> Any:
        """Do what a service asks; whatever is refused is said, and changes nothing."""
        try:
            response.success, response.message = True, act()
        except IcubLearningError as error:
            return self._refuse(response, str(error))
        return response

    def _refuse(self, response: Any, reason: str) -> Any:
        response.success, response.message = False, reason
        self.get_logger().warning(reason)
        return response

    def _publish_objects(self) -> None:
        objects = self._recognizer.objects()
        message = ObjectList(labels=list(objects), counts=list(objects.values()))
        message.header.stamp = self.get_clock().now().to_msg()
        self._objects.publish(message)

    def _publish_report(self) -> None:
        self._diagnostics.publish(self._report.diagnostics(self._recognizer, self._active))

    def _on_parameter(self, name: str, value: Any) -> None:
        if not self._configured:
            return
        if name == "unknown_below":
            self._recognizer.unknown_below = value
        elif name == "publish_rate":
            self._repeat(value)

    def _repeat(self, rate: float) -> None:
        """Publish the newest recognition `rate` times a second [Hz]; 0: each recognition once."""
        if self._repeat_timer is not None:
            self.destroy_timer(self._repeat_timer)
        self._repeat_timer = self.create_timer(1.0 / rate, self._publish_newest, clock=self._steady) if rate else None

    def _publish_newest(self) -> None:
        if self._active and self._message is not None:
            self._recognitions.publish(self._message)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is told to stop."""
    return run(ObjectRecognitionNode, args)


if __name__ == "__main__":
    raise SystemExit(main())
