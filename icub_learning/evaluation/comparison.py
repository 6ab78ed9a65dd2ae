"""The three estimators over one recording, with causal, smoothed or recorded derivatives."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from icub_learning.dynamics import assembly
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.evaluation.motions import KnownMotions, recorded, smooth
from icub_learning.evaluation.predict_then_learn import Evaluation, evaluate
from icub_learning.recording.recording import JointStateEvent, Recording, WrenchEvent

ESTIMATORS = {"P": "parametric", "NP": "nonparametric", "SP": "semiparametric"}
DERIVATIVES = ("causal", "smoothed", "recorded")

Events = Iterable[JointStateEvent | WrenchEvent]


def compare(
    recording: Recording,
    settings: assembly.Settings,
    derivatives: str = "causal",
    watch: Callable[[Events, str], Events] = lambda events, _: events,
) -> dict[str, Evaluation]:
    """Run P, NP and SP over the recording, each from zero and through a stream of its own.

    Args:
        recording: what to learn from.
        settings: as for the node; its `estimator` is not used.
        derivatives: "causal": the node's own, so that the result is the node's; "smoothed": with samples from both
            sides, as no running robot has them; "recorded": the accelerations in the recording.
        watch: is given the events and the estimator's short name, and passes the events on: for a progress bar.

    Raises:
        RecordingError: the recording lacks what the settings need, or no joint state of it was accepted.
        ModelError, ParameterError: the settings do not fit the robot, or are outside their ranges.
    """
    if derivatives not in DERIVATIVES:
        raise ParameterError("derivatives", derivatives, "one of " + ", ".join(DERIVATIVES))
    check_outputs(recording, settings)
    regressor = assembly.make_regressor(settings)
    make_stream = _stream_maker(recording, settings, derivatives, regressor)
    results = {}
    for short, estimator in ESTIMATORS.items():
        learner = assembly.make_estimator(replace(settings, estimator=estimator), regressor)
        result = evaluate(make_stream(learner), watch(recording.events(), short), tuple(regressor.output_names))
        if not result.n_predicted:
            refused = ", ".join(f"{reason} {count}" for reason, count in result.refused.most_common())
            raise RecordingError(
                f"none of {result.n_joint_states} joint states was accepted ({refused or 'the recording is empty'});"
                f" the last refusal: {result.last_refusal or 'none'}",
                name="joint_states",
                value=dict(result.refused),
                bound="at least one accepted",
            )
        results[short] = result
    return results


def check_outputs(recording: Recording, settings: assembly.Settings) -> None:
    """Raise RecordingError unless the recording holds what the settings learn."""
    efforts = recording.effort is not None or any(len(event.effort) for event in recording.irregular)
    if settings.output == "joint_torque" and not efforts:
        text = "the joint states carry no efforts to learn from; is the output a wrench?"
        raise RecordingError(text, name="effort", bound="efforts in the joint states")
    if settings.output == "wrench" and (recording.wrench is None or not len(recording.wrench)):
        text = "the recording has no wrench to learn from; is the output joint_torque?"
        raise RecordingError(text, name="wrench", bound="geometry_msgs/WrenchStamped messages")


def _stream_maker(
    recording: Recording, settings: assembly.Settings, derivatives: str, regressor: assembly.AnyRegressor
) -> Callable[[assembly.AnyEstimator], InverseDynamicsStream]:
    if derivatives == "causal":
        return lambda estimator: assembly.make_stream(settings, regressor, estimator)
    if derivatives == "smoothed":
        reader, weight = assembly.make_reader(settings, regressor), assembly.velocity_weight(settings)
        motions = smooth(recording.events(), reader, weight, settings.velocity_delay, settings.max_gap)
    else:
        motions = recorded(recording, regressor.joints)
    return lambda estimator: assembly.make_stream(settings, regressor, estimator, KnownMotions(motions))
