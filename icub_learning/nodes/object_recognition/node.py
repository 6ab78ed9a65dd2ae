"""The node that recognizes objects in feature vectors, and learns new objects in lessons."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.timer import Timer
from std_srvs.srv import Trigger

from icub_learning.arrays import real
from icub_learning.errors import IcubLearningError, RecognitionError, SampleError, StateError
from icub_learning.models.header import ModelHeader
from icub_learning.nodes.common.conversions import doubles, stamp_to_ns
from icub_learning.nodes.common.diagnostics import StreamReport, publish_every
from icub_learning.nodes.common.image_messages import classification, vision_msgs
from icub_learning.nodes.common.model_keeper import ModelSettings
from icub_learning.nodes.common.qos import SENSOR, STATE, STREAM
from icub_learning.nodes.common.spinning import LifecycleSettings, run
from icub_learning.nodes.common.taught_node import LONGEST_LESSON, TaughtNode, list_objects
from icub_learning.nodes.common.timing import DurationWindow
from icub_learning.recognition import assembly
from icub_learning.recognition.classifiers.labels import shorten
from icub_learning.recognition.settings import Settings
from icub_learning.settings import pick, setting, settings_of
from icub_learning_msgs.msg import FeatureVector, ObjectList, Recognition
from icub_learning_msgs.srv import ForgetObject, ListObjects, ModelFile, RenameObject, TeachObject


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself, beside those of recognition."""

    publish_rate: float = setting(
        0.0, "rate at which the newest recognition is repeated; 0: never", unit="Hz", low=0.0, high=1000.0, live=True
    )
    report_period: float = setting(1.0, "period of /diagnostics", unit="s", low=0.05, high=60.0)


PARAMETERS = settings_of(LifecycleSettings, Settings, NodeSettings, ModelSettings)


class ObjectRecognitionNode(TaughtNode):
    """Subscribes to features, publishes recognitions, and learns objects by services; see docs/ros_interface.md."""

    def _configure(self, settings: dict[str, Any]) -> None:
        self._repeat_timer: Timer | None = None
        self._recall = np.zeros(0)  # recall that was last published
        self._settings = pick(Settings, settings)
        self._recognizer = assembly.make_recognizer(self._settings)
        self._network = ""  # network that made the newest features
        self._n_features: int | None = None  # length of the newest features
        self._keep_model(settings, self._largest, self._restore)
        self._message: Recognition | None = None  # newest by what is known now, published again at publish_rate
        self._make_endpoints()
        self._report = StreamReport(self, "recognition", "no features arrive")
        self._latency = DurationWindow()  # time from the features' callback to the publication of the recognition
        self._learning = DurationWindow()
        publish_every(self, settings["report_period"], self._statuses)
        self._repeat(settings["publish_rate"])
        self.started.callback(self._repeat, 0.0)
        known, kind = len(self._recognizer.objects()), self._describe().settings["classifier"]
        self.get_logger().info(f"classifier {kind}; {known or 'no'} objects are known")

    def _describe(self) -> ModelHeader:
        return assembly.describe(self._settings, self._recognizer, self._network)

    def _state(self) -> dict[str, Any]:
        return assembly.state_of(self._recognizer)

    def _restore(self, state: dict[str, Any]) -> None:
        if warning := assembly.restore(self._recognizer, state, self._settings):
            self.get_logger().warning(warning)
        if self._recognizer.classifier is not None:
            self._recognizer.classifier.calibrate()  # so that recall is known before the first vector

    def _autosave(self) -> None:
        if self._recognizer.lesson is None:  # during a lesson what was taught is not complete
            super()._autosave()

    def _largest(self) -> int:
        known = self._recognizer.classifier
        return assembly.largest_bytes(known.n_features if known else self._n_features)

    def _make_endpoints(self) -> None:
        self._recognitions = self.create_lifecycle_publisher(Recognition, "~/recognition", STREAM)
        self._vision = vision_msgs()
        if self._vision is not None:
            kind = self._vision.Classification
            self._classifications = self.create_lifecycle_publisher(kind, "~/classification", STREAM)
        self._objects = self.create_lifecycle_publisher(ObjectList, "~/objects", STATE)
        self.create_subscription(FeatureVector, "features", self._on_features, SENSOR)
        self.create_service(TeachObject, "~/teach", self._teach)
        self.create_service(ForgetObject, "~/forget_object", self._forget_object)
        self.create_service(RenameObject, "~/rename_object", self._rename_object)
        self.create_service(ListObjects, "~/list_objects", self._list_objects)
        self.create_service(ModelFile, "~/save_model", self._save_model)
        self.create_service(ModelFile, "~/load_model", self._load_model)
        self.create_service(ModelFile, "~/merge_model", self._merge_model)
        self.create_service(Trigger, "~/reset", self._reset)

    def _start(self) -> None:
        self._publish_objects()

    def _stop(self, reason: str) -> None:
        self._end_lesson(reason)  # an unfinished lesson is undone

    def _on_features(self, message: FeatureVector) -> None:
        if not self.active:
            return
        arrival, stamp = time.perf_counter(), stamp_to_ns(message.header.stamp)
        try:
            result = self._recognizer.recognize(stamp, message.source, message.values)
        except SampleError as error:
            self.gate.log(error)
            return
        except Exception as error:  # as in `_learn`
            self._end_lesson(f"{type(error).__name__}: {error}")
            raise
        if self._recognizer.lesson is None and not np.array_equal(self._recall, self._recognizer.recall(), True):
            self._publish_objects()  # it has changed: the recognizer was calibrated
        self._network, self._n_features = message.source, len(message.values)
        said = {name: getattr(result, name) for name in ("label", "confidence", "labels", "nearest", "typicality")}
        self._message = Recognition(header=message.header, **said)
        self._message.scores = doubles(result.scores)
        if self._repeat_timer is None:
            self._recognitions.publish(self._message)
        if self._vision is not None:
            label = classification(self._vision, message.header, result.label, result.confidence)
            self._classifications.publish(label)
        self._latency.add(time.perf_counter() - arrival)
        self._learn()

    def _learn(self) -> None:
        start = time.perf_counter()
        try:
            learned = self._recognizer.learn()
        except IcubLearningError as error:
            self._end_lesson(str(error))
            return
        except Exception as error:  # a classifier of the user's may raise anything
            self._end_lesson(f"{type(error).__name__}: {error}")
            raise
        if learned:
            self._learning.add(time.perf_counter() - start)
            if self._recognizer.lesson is not None and self._recognizer.lesson.done:
                self._end_lesson("")

    async def _teach(self, request: TeachObject.Request, response: TeachObject.Response) -> str:
        """Answer when the lesson is over; meanwhile the executor handles features and other services."""
        if not self.active:
            raise RecognitionError("cannot teach now: the node is not active", name="teach")
        if not request.n_frames:
            return self._interrupt(request.label)
        timeout = real("timeout", request.timeout, 0.0, LONGEST_LESSON, low_open=True)
        lesson = self._recognizer.start_lesson(request.label, request.n_frames)
        late = f"timed out after {timeout:g} s"
        if failure := await self._end_of_lesson(timeout, lambda: self._end_lesson(late)):
            raise RecognitionError(failure, name="teach")
        response.n_examples = lesson.n_taken
        return f"learned {lesson.n_taken} frames of '{lesson.label}'"

    def _interrupt(self, label: str) -> str:
        if (lesson := self._recognizer.lesson) is None or lesson.label != label:
            text = f"n_frames: 0 ends a lesson, but '{shorten(label)}' is not being taught"
            raise RecognitionError(text, name="teach", bound="the label of the lesson under way")
        self._end_lesson("ended by a request")
        return f"the lesson is over: nothing was learned about '{label}'"

    def _end_lesson(self, reason: str) -> None:
        """End the current lesson, if there is one; an unfinished one is undone, and the answer gives the reason."""
        if (lesson := self._recognizer.lesson) is None:
            return
        self._message = None
        try:
            self._recognizer.end_lesson()
        except IcubLearningError as error:
            reason = f"{reason}; what was known before could not be restored, {error}"
        if lesson.done:
            self._revision += 1
            self._publish_objects()
            self._lesson_over.set_result("")
        else:
            self._lesson_over.set_result(f"{reason}: '{lesson.label}' was not learned ({lesson.progress()})")

    def _forget_object(self, request: ForgetObject.Request, _response: Any) -> str:
        self._recognizer.forget(request.label)
        return self._changed(f"forgot '{request.label}'")

    def _rename_object(self, request: RenameObject.Request, _response: Any) -> str:
        self._recognizer.rename(request.old_label, request.new_label)
        return self._changed(f"'{request.old_label}' is now '{request.new_label}'")

    def _list_objects(self, _request: ListObjects.Request, response: ListObjects.Response) -> ListObjects.Response:
        response.recall = doubles(self._recognizer.recall())
        return list_objects(response, self._recognizer.objects())

    async def _save_model(self, request: ModelFile.Request, _response: Any) -> str:
        return await self._write(request.path, self._recognizer.saved)

    async def _load_model(self, request: ModelFile.Request, _response: Any) -> str:
        state = await self._read(request.path)
        size, same = state.get("classifier.n_features", self._n_features), state.get("source") == self._network
        if self._n_features and np.all(same) and np.any(size != self._n_features):  # none would be recognized
            text = f"the saved model uses {size} features of '{self._network}', of which {self._n_features} come"
            raise StateError(text, name="path", value=request.path)
        self._restore(state)
        return self._changed(f"loaded {len(self._recognizer.objects())} objects")

    async def _merge_model(self, request: ModelFile.Request, _response: Any) -> str:
        state = await self._read(request.path)
        if self._recognizer.classifier is None:
            self._restore(state)  # by the settings of this node
        elif warning := self._recognizer.merge(state):
            self.get_logger().warning(warning)
        return self._changed(f"merged; {len(self._recognizer.objects())} objects are known now")

    def _reset(self, _request: Trigger.Request, _response: Any) -> str:
        self._recognizer.reset()
        return self._changed("all objects are forgotten")

    def _changed(self, message: str) -> str:
        """Note and publish that the taught objects have changed; return the message."""
        self._message = None
        self._revision += 1
        self._publish_objects()
        return message

    def _publish_objects(self) -> None:
        objects, self._recall = self._recognizer.objects(), self._recognizer.recall()
        message = ObjectList(labels=list(objects), counts=list(objects.values()), recall=doubles(self._recall))
        message.header.stamp = self.get_clock().now().to_msg()
        self._objects.publish(message)

    def _on_parameter(self, name: str, value: Any) -> None:
        if name == "reject_known":
            self._recognizer.reject_known = value
        elif name == "publish_rate":
            self._repeat(value)

    def _repeat(self, rate: float) -> None:
        """Publish the newest recognition again and again at `rate` [Hz]; 0: each recognition once."""
        if self._repeat_timer is not None:
            self.destroy_timer(self._repeat_timer)
        self._repeat_timer = self.create_timer(1.0 / rate, self._publish_newest) if rate else None

    def _publish_newest(self) -> None:
        if self.active and self._message is not None:
            self._recognitions.publish(self._message)

    def _statuses(self) -> list[DiagnosticStatus]:
        recognizer = self._recognizer
        counts, objects, lesson = recognizer.counts, recognizer.objects(), recognizer.lesson
        rate = self._report.rate(counts.recognized)
        values = {
            "feature vectors": counts.recognized, "rate [Hz]": f"{rate:.1f}", "examples learned": counts.learned,
            "objects": len(objects), "examples known": sum(objects.values()),
            "lesson": f"{lesson.label}: {lesson.progress()}" if lesson else "none",
            "network": recognizer.source if recognizer.classifier is not None else "none yet",
            "latency, arrival to publication": self._latency.summary(), "learning": self._learning.summary(),
            **self._keeper.status(),
        }  # fmt: skip
        doing = f"learning '{lesson.label}'" if lesson else f"recognizing {len(objects)} objects"
        running = self._keeper.verdict(f"{doing} at {rate:.1f} Hz")
        return [self._report.report(rate, running, values, counts.refused, counts.last_refusal)]


main = partial(run, partial(ObjectRecognitionNode, "object_recognition", PARAMETERS))

if __name__ == "__main__":
    raise SystemExit(main())
