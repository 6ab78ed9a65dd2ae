"""The node that learns inverse dynamics while the robot moves, and predicts for every joint state at once."""

import time
from dataclasses import asdict
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from icub_learning.arrays import Array
from icub_learning.dynamics import assembly
from icub_learning.dynamics.saved_model import ModelDescription
from icub_learning.dynamics.settings import Settings
from icub_learning.dynamics.stream.records import RecentMeasurements, mean_error
from icub_learning.dynamics.stream.sensor_faults import SensorCheck
from icub_learning.errors import SampleError, StateError
from icub_learning.nodes.common.conversions import doubles, set_wrench
from icub_learning.nodes.common.diagnostics import publish_every
from icub_learning.nodes.common.gate import LOG_PERIOD
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.qos import SAMPLES, STATE, STREAM
from icub_learning.nodes.common.spinning import ManagedNode, run
from icub_learning.nodes.common.threads import scheduling
from icub_learning.nodes.common.threads.own_core import OwnCore
from icub_learning.nodes.common.timing import TimingLimits
from icub_learning.nodes.inverse_dynamics.changes import ChangeEndpoints
from icub_learning.nodes.inverse_dynamics.controllers import ControllerEndpoints
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning.nodes.inverse_dynamics.message_layouts import JointStateDecoder, MessageTemplate, WrenchDecoder
from icub_learning.nodes.inverse_dynamics.model_services import ModelServices
from icub_learning.nodes.inverse_dynamics.overload import SettlingPeriod, Thinning
from icub_learning.nodes.inverse_dynamics.parameters import PARAMETERS
from icub_learning.nodes.inverse_dynamics.report import NO_CLOCK, DynamicsReport, InertialReport
from icub_learning.nodes.inverse_dynamics.robot_description import joints_of_controller, movable_joints, receive_urdf
from icub_learning.robots import find_urdf, position_limits, read_urdf
from icub_learning.settings import pick
from icub_learning_msgs.msg import DynamicsPrediction, InertialParameters
from icub_learning_msgs.srv import ModelFile

# [s] between two checks of the learning thread, and two states that are kept to restore: copying a state takes 4 ms.
SUPERVISION_PERIOD = 1.0
UNPAIRED = 8  # joint states after which pairing runs even if no measurement waits, to give up those that are too old


class InverseDynamicsNode(ManagedNode):
    """Subscribes to joint states and wrenches, publishes predictions; see docs/ros_interface.md."""

    def _configure(self, settings: dict[str, Any]) -> None:
        self._settings = self._about_the_robot(settings)
        self._regressor = assembly.make_regressor(self._settings)
        estimator = assembly.make_estimator(self._settings, self._regressor)
        self._stream = assembly.make_stream(self._settings, self._regressor, estimator)
        self._stream.learning = settings["learning"]
        description = ModelDescription(self._settings, self._regressor)
        estimator = self._keep_model(settings, description, estimator)
        # The learning thread works with the regressor of the estimator; predictions get one of their own.
        own = self._regressor.twin()
        thinning = Thinning(settings["learning_share"], settings["learning_backlog"])
        on_error = partial(self.get_logger().error, throttle_duration_sec=LOG_PERIOD)
        self._learner = LearningThread(estimator, own, thinning, on_error)
        self._models = ModelServices(self._learner, self._keeper, description, self.get_logger().warning)
        self.started.callback(self._stop_learning)
        self._settling = SettlingPeriod()
        self._by_arrival, self._is_wrench = settings["stamp_source"] == "arrival", settings["output"] == "wrench"
        self._scheduling, self._frame = settings, settings["frame_id"] or self._regressor.frame
        self._make_messages()
        self._make_endpoints()
        self._report = DynamicsReport(self, asdict(pick(TimingLimits, settings)), self._by_arrival)
        self._inertial = InertialReport(self, self._regressor, self._frame)
        self._recent, self._changes = RecentMeasurements(), ChangeEndpoints(self, self._stream)
        self.started.callback(self._changes.close)
        self._controllers = ControllerEndpoints(self, self._stream, self._regressor, self._learner, self._settings.urdf)
        joints = self._regressor.joints
        limits = dict(zip(joints, position_limits(read_urdf(self._settings.urdf), joints), strict=True))
        self._sensor_check = SensorCheck(self._regressor.output_names, self._is_wrench, limits)
        publish_every(self, settings["report_period"], self._statuses)
        self.create_timer(settings["report_period"], self._publish_inertial)
        self.create_timer(settings["autosave_period"], self._models.autosave)
        self.create_timer(SUPERVISION_PERIOD, self._supervise)
        self.get_logger().info(
            f"{self._settings.estimator} estimator of {self._regressor.n_outputs} outputs from "
            f"{self._regressor.n_joints} joints, {self._regressor.n_base} identifiable of "
            f"{self._regressor.n_parameters} rigid-body parameters"
        )

    def _start(self) -> None:
        self.get_logger().info("; ".join(self._schedule()))

    def _deactivated(self) -> None:
        self._models.save_now()

    def _stop_learning(self) -> None:
        self._models.stop()
        self.exit_code = int(self._keeper.lacks(self._learner.revision))

    def _about_the_robot(self, settings: dict[str, Any]) -> Settings:
        """Return the settings, with URDF and joints from other nodes where the parameters say so."""
        by_topic, timeout = settings["urdf"] == "topic", settings["description_timeout"]
        urdf = receive_urdf(self, timeout) if by_topic else find_urdf(settings["urdf"])
        if not (joints := tuple(settings["joints"])) and settings["controller"]:
            joints = joints_of_controller(self, settings["controller"], timeout)
        elif not joints and by_topic:
            joints = movable_joints(urdf)
        return pick(Settings, settings, urdf=urdf, joints=joints)

    def _keep_model(self, settings: dict[str, Any], description: ModelDescription, estimator: Any) -> Any:
        """Keep the model file; return its estimator, or the given one where there is none."""
        self._keeper = ModelKeeper(settings, partial(description.header, 0), lambda: description.largest)
        self.started.callback(self._keeper.close)

        def loaded(state: dict[str, Any]) -> Any:
            made, self._keeper.note = description.restored(type(estimator), state, self._regressor)
            return made

        return self._keeper.load_newest(loaded, self.get_logger()) or estimator

    def _make_messages(self) -> None:
        self._decoder, self._wrench_decoder = JointStateDecoder(), WrenchDecoder()
        n, names = self._regressor.n_outputs, list(self._regressor.output_names)
        prediction = DynamicsPrediction(names=names)
        output = WrenchStamped() if self._is_wrench else JointState(name=names)
        prediction.header.frame_id = output.header.frame_id = self._frame
        self._prediction = MessageTemplate(prediction, (n,) * 4, _fill_prediction)
        self._output = MessageTemplate(output, (n,), _fill_output)

    def _make_endpoints(self) -> None:
        kind, suffix = (WrenchStamped, "wrench") if self._is_wrench else (JointState, "effort")
        names = {name: f"{name}_{suffix}" for name in ("predicted", "parametric", "external")}
        self._output_publishers = {
            name: self.create_lifecycle_publisher(kind, f"~/{topic}", STREAM)
            for name, topic in (names | {"deviation": f"external_{suffix}_deviation"}).items()
        }
        self._prediction_publisher = self.create_lifecycle_publisher(DynamicsPrediction, "~/prediction", STREAM)
        self._has_subscriber = False  # whether predictions had a subscriber when the last one was published
        self._inertial_publisher = self.create_lifecycle_publisher(InertialParameters, "~/inertial_parameters", STATE)
        self.create_subscription(JointState, "joint_states", self._on_joint_state, SAMPLES, raw=True)
        if self._is_wrench:
            self.create_subscription(WrenchStamped, "wrench", self._on_wrench, SAMPLES, raw=True)
        self.create_service(SetBool, "~/set_learning", self._set_learning)
        self.create_service(Trigger, "~/reset", self._reset)
        self.create_service(Trigger, "~/tare", self._tare)
        self.create_service(ModelFile, "~/save_model", self._models.save)
        self.create_service(ModelFile, "~/load_model", self._load_model)
        self.create_service(ModelFile, "~/merge_model", self._models.merge)

    def _on_joint_state(self, data: bytes) -> None:
        if not self.active:
            return
        arrival, message = time.perf_counter(), self._decoder.decode(data)
        stamp = self._stamp(message.stamp)
        self._stream.predictor = self._learner.predictor  # newest predictor that is complete
        try:
            record = self._stream.joint_state(stamp, message.name, message.position, message.velocity, message.effort)
        except SampleError as error:
            self.gate.log(error)
            self._report.cycle.arrived(arrival)
            self._report.cycle.end()
            return
        self._publish_output("predicted", stamp, record.prediction.total, self._has_subscriber)
        # Everything below can wait until the prediction is published.
        self._has_subscriber = self._output_publishers["predicted"].get_subscription_count() > 0
        cycle, now = self._report.cycle, self.get_clock().now().nanoseconds
        cycle.published(arrival, (now - stamp) * 1e-9 if now else None)
        prediction = record.prediction
        if self._prediction_publisher.get_subscription_count():
            parts = (prediction.total, prediction.parametric, prediction.residual, prediction.variance)
            self._prediction_publisher.publish(self._prediction.bytes_of(stamp, *parts))
        self._publish_output("parametric", stamp, prediction.parametric)
        self._controllers.publish(record)
        if self._is_wrench and not self._stream.waiting and self._stream.counts.predicted % UNPAIRED:
            self._stream.settle()  # everything else can wait for the wrench
        else:
            self._pair_and_hand_over()
        cycle.end()

    def _on_wrench(self, data: bytes) -> None:
        if not self.active:
            return
        given, wrench = self._wrench_decoder.decode(data)
        stamp = self._stamp(given)
        try:
            self._stream.measurement(stamp, wrench)
        except SampleError as error:
            self.gate.log(error)
            return
        self._pair_and_hand_over()

    def _pair_and_hand_over(self) -> None:
        paired = self._stream.pair()
        for external in paired:
            self._recent.add(time.perf_counter(), external.known, external.measured)
            for kind in ("external", "deviation"):  # computing them costs more than publishing
                if self._output_publishers[kind].get_subscription_count():
                    self._publish_output(kind, external.stamp, getattr(external, kind), True)
            self._report.checked(self._sensor_check.add(external.measured, external.known.position))
        for sample in self._stream.complete():
            self._learner.offer(sample)
        if paired:
            self._changes.publish(paired[-1].stamp)
        if (ratio := self._stream.take_change()) is not None:
            self._learner.ask(lambda estimator: estimator.body_changed(ratio))

    def _supervise(self) -> None:
        if found := self._learner.supervise():
            self.get_logger().error(found)
            if self.active:
                self._schedule()
        if self.active:
            self._core.follow()
            times = scheduling.times_of(self._learner.thread_id)
            self._stream.settling_period = self._settling.follow(*times, time.thread_time(), time.monotonic())
            self._models.checkpoint()

    def _schedule(self) -> list[str]:
        """Request priorities and cores; return the results in words."""
        results = scheduling.apply(self._scheduling, self._learner.thread_id)
        self._core = OwnCore(scheduling.cores_of(self._scheduling), self._learner.thread_id)
        return [said for said in (*results, self._core.follow()) if said]

    def _stamp(self, given: int) -> int:
        if self._by_arrival and not (given := self.get_clock().now().nanoseconds):
            raise SampleError("stamp_zero", NO_CLOCK)
        return given

    def _publish_output(self, kind: str, stamp: int, values: Array, subscribed: bool = False) -> None:
        """Publish if there is a subscriber, which `subscribed` may already say: a message to nobody costs as much."""
        publisher = self._output_publishers[kind]
        if subscribed or publisher.get_subscription_count():
            publisher.publish(self._output.bytes_of(stamp, values))

    def _statuses(self) -> list[DiagnosticStatus]:
        return [self._report.status(self._stream, self._learner, self._keeper), self._changes.status()]

    def _publish_inertial(self) -> None:
        wanted = self._inertial_publisher.get_subscription_count() > 0  # an estimate costs the learner 6 to 15 ms
        if self.active and (message := self._inertial.message(self._learner, wanted)) is not None:
            self._inertial_publisher.publish(message)

    def _on_parameter(self, name: str, value: Any) -> None:
        if name == "learning":
            self._stream.learning = bool(value)
        elif name in self._report.limits:
            self._report.limits[name] = value

    def _set_learning(self, request: SetBool.Request, _response: Any) -> str:
        self.set_parameters([Parameter("learning", value=request.data)])  # the parameter must show the present state
        return "learning" if request.data else "predicting only"

    async def _reset(self, _request: Trigger.Request, _response: Any) -> str:
        def forget(_estimator: Any) -> tuple[Any, str]:
            return assembly.make_estimator(self._settings, self._regressor), "all that was learned is forgotten"

        done, seen = await self._models.ask(forget, exchanges=True), self._held()
        self._keeper.note = ""
        return self._watch_anew(f"{done}; the {seen} counts as part of the body from now on" if seen else done)

    def _watch_anew(self, message: str) -> str:
        """Start a new watch, since a model that was replaced makes other errors; return the message."""
        self._stream.watch = assembly.make_watch(self._settings, self._regressor)
        return message

    def _held(self) -> str:
        """Return what is in the hand or touches it, in a word; "" if nothing is known of that."""
        watch = self._changes.monitor
        return watch.phase if watch is not None and (watch.load is not None or watch.contact) else ""

    def _require_free_hand(self) -> None:
        if seen := self._held():
            raise StateError(f"the hand is not free: {seen}; put down what it carries first")

    async def _tare(self, _request: Trigger.Request, _response: Any) -> str:
        if not self._is_wrench:
            raise StateError("with output: joint_torque there is no force/torque sensor to tare")
        self._require_free_hand()
        recent = self._recent.within(time.perf_counter())

        def tare(estimator: Any) -> str:
            change = mean_error(estimator, recent)
            estimator.tare(change)
            named = zip(self._regressor.output_names, change, strict=True)
            moved = ", ".join(f"{name} {value:+.3g}" for name, value in named)
            return f"offsets moved by {moved}, the mean of {len(recent)} measurements"

        return await self._models.ask(tare)

    async def _load_model(self, request: ModelFile.Request, response: ModelFile.Response) -> str:
        self._require_free_hand()  # the loaded model would learn a load as part of the body
        return self._watch_anew(await self._models.load(request, response))


def _fill_prediction(message: DynamicsPrediction, *parts: Array) -> None:
    message.total, message.parametric, message.residual, message.variance = map(doubles, parts)


def _fill_output(message: WrenchStamped | JointState, values: Array) -> None:
    if isinstance(message, WrenchStamped):
        set_wrench(message.wrench, values)
    else:
        message.effort = doubles(values)


main = partial(run, partial(InverseDynamicsNode, "inverse_dynamics", PARAMETERS))

if __name__ == "__main__":
    raise SystemExit(main())
