"""Time a cycle of the inverse dynamics node part by part."""

from collections.abc import Callable, Iterator
from itertools import count, cycle
from typing import Any

import numpy as np

from benchmarks.report import Result
from benchmarks.timing import Spread, time_in_turns
from icub_learning.dynamics import MotionFilter, ParametricEstimator
from icub_learning.dynamics.assembly import make_estimator, make_reader, make_regressor, make_stream
from icub_learning.dynamics.changes.error_model import BLOCK
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.joint.predictor import JointPredictor
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.dynamics.settings import Settings
from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.robots import find_urdf

ARM = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow",
       "r_wrist_prosup", "r_wrist_pitch", "r_wrist_yaw")  # fmt: skip
N_FEATURES = 560
PERIOD = 5_000_000  # [ns] between joint states
JITTER = 0.4  # standard deviation of the logarithm of the distances between irregular stamps


def run(quick: bool) -> Result:
    """Time every part in turns with the others."""
    settings = Settings(urdf=find_urdf("icub"), joints=ARM, n_random_features=N_FEATURES)
    regressor, own = make_regressor(settings), make_regressor(settings)
    estimator, random = make_estimator(settings, regressor), np.random.default_rng(0)
    motions, measured = random.normal(size=(500, 3, len(ARM))), random.normal(size=(500, 6))
    for motion, y in zip(motions, measured, strict=True):
        estimator.update(*motion, y)
    predictor = estimator.predictor(own)
    reader, names = make_reader(settings, regressor), tuple(regressor.known_joints)
    values = np.zeros(len(names))
    rigid = ParametricEstimator(regressor)
    core, rows = RecursiveLeastSquares(N_FEATURES, 6), random.normal(size=(500, N_FEATURES)) / np.sqrt(N_FEATURES)
    assert isinstance(predictor, JointPredictor)
    features = predictor.features
    inputs = np.zeros(3 * len(ARM))

    def differentiate(jitter: float) -> Callable[[int], None]:
        derivatives, stamps = MotionFilter(len(ARM)), stamps_with(jitter)

        def step(i: int) -> None:
            derivatives.add(next(stamps), motions[i % 500, 0], motions[i % 500, 1])
            derivatives.newest()

        return step

    def joint_state(jitter: float) -> Callable[[int], None]:
        stream, stamps = make_stream(settings, regressor, estimator), stamps_with(jitter)
        return lambda i: stream.joint_state(next(stamps), ARM, motions[i % 500, 0], motions[i % 500, 1])

    def rigid_step(i: int) -> None:
        rigid.predict(*motions[i % 500])
        rigid.update(*motions[i % 500], measured[i % 500])

    made = [predictor.predict(*motion) for motion in motions]
    made[0].settle()

    def learn(i: int) -> None:  # with the prediction that was made when the sample came, as in the node
        estimator.update(*motions[i % 500], measured[i % 500], published=made[i % 500])
        estimator.predictor(own)

    def rank_6(i: int) -> None:
        phi = phis[i % 500]
        parameters.predict(phi)
        parameters.update(phi, measured[i % 500, :, None], same_instant=True)

    def core_step(i: int) -> None:
        core.predict(rows[i % 500])
        core.update(rows[i % 500], measured[i % 500])

    quiet, event = watched(regressor, event=False), watched(regressor, event=True)
    phis = np.array([regressor(*motion) for motion in motions])
    parameters = RecursiveLeastSquares(regressor.n_parameters, 1)
    steps: dict[str, Callable[[int], Any]] = {
        f"check a joint state of {len(names)} joints": lambda i: reader.read(names, values, values, ()),
        "velocity and acceleration": differentiate(0.0),
        "velocity and acceleration, irregular stamps": differentiate(JITTER),
        "a joint state to its prediction": joint_state(0.0),
        "a joint state to its prediction, irregular stamps": joint_state(JITTER),
        f"wrench regressor, {regressor.n_parameters} parameters": lambda i: regressor(*motions[i % 500]),
        f"{2 * len(features.frequencies)} random features": lambda i: features.waves(inputs),
        "an answer: regressor, features, experts": lambda i: predictor.answer(*motions[i % 500]),
        "predict: an answer, and how sure it is": lambda i: predictor.predict(*motions[i % 500]),
        "judge a prediction": lambda i: predictor.judge(made[i % 500], measured[i % 500], 0.005),
        "a prediction by weights that no push moves": lambda i: predictor.undisturbed(made[i % 500]),
        f"core step, d = {N_FEATURES}, T = 6": core_step,
        f"rank-6 step of {regressor.n_parameters} parameters, and prediction": rank_6,
        "rigid-body learner: predict and learn": rigid_step,
        "semiparametric learner: learn, and a new predictor": learn,
        "watch a sample, quiet": lambda i: next(quiet),
        "watch a sample during an event": lambda i: next(event),
        **_message_steps(values, measured[0]),
    }
    spreads = time_in_turns(steps, 0.2 if quick else 1.0, 2000)
    full = spreads[f"core step, d = {N_FEATURES}, T = 6"]
    table = []
    for name, spread in spreads.items():
        assert isinstance(spread, Spread) and isinstance(full, Spread)
        table.append(
            {
                "part": name,
                "µs": round(1e6 * spread.median, 2),
                "quartiles": f"{1e6 * spread.low:.4g}..{1e6 * spread.high:.4g}",
                "x core step": round(spread.median / full.median, 3),
            }
        )
    return Result(table, [f"iCub's right arm, {N_FEATURES} random features; every part in turns with the others."])


def stamps_with(jitter: float) -> Iterator[int]:
    """Yield stamps [ns] whose distances are log-normal around PERIOD."""
    distances = PERIOD * np.random.default_rng(0).lognormal(0.0, jitter, 10_000)
    stamp = 10**18
    for distance in cycle(distances.astype(int).tolist()):
        stamp += distance
        yield stamp


def watched(regressor: WrenchRegressor | TorqueRegressor, event: bool) -> Iterator[ChangeMonitor]:
    """Yield a ready monitor after each further sample; samples are a block apart, so that each one is evaluated.

    Args:
        regressor: regressor of the watched arm.
        event: whether there are errors all the time that neither a load nor a push explains.
    """
    monitor, random = ChangeMonitor(LinkEffects(regressor), longest_contact=1e9), np.random.default_rng(0)
    noise, speeds = np.array([0.4] * 3 + [0.01] * 3), np.linspace(2.0, 5.0, len(ARM))
    for k in count():
        phase, stamp = speeds * k * BLOCK, 1 + round(k * BLOCK * 1e9)
        motion = Motion(stamp, 0.3 * np.sin(phase), 0.3 * speeds * np.cos(phase), -0.3 * speeds**2 * np.sin(phase))
        error = noise * random.normal(size=6)
        if event and monitor.ready:
            error += 30.0 * noise * np.sin(k * BLOCK * np.arange(7.0, 13.0))
        monitor.observe(motion, error)
        if monitor.ready:
            yield monitor


def _message_steps(values: np.ndarray, wrench: np.ndarray) -> dict[str, Callable[[int], Any]]:
    """Return the steps that convert and serialize messages; none without ROS."""
    try:
        from geometry_msgs.msg import WrenchStamped
        from rclpy.serialization import deserialize_message, serialize_message
        from sensor_msgs.msg import JointState

        from icub_learning.nodes.common.conversions import doubles, set_stamp, set_wrench
        from icub_learning.nodes.inverse_dynamics.message_layouts import JointStateDecoder, MessageTemplate
    except ImportError:
        return {}
    state = JointState(
        name=[f"joint_{i}" for i in range(len(values))], position=doubles(values), velocity=doubles(values)
    )
    packed, answer, decoder = serialize_message(state), WrenchStamped(), JointStateDecoder()
    template = MessageTemplate(WrenchStamped(), (6,), lambda message, numbers: set_wrench(message.wrench, numbers))

    def fill(_: int) -> bytes:
        set_stamp(answer.header.stamp, 10**18)
        set_wrench(answer.wrench, wrench)
        return serialize_message(answer)

    return {
        "read a joint state from its bytes": lambda i: decoder.decode(packed),
        "write a wrench into its bytes": lambda i: template.bytes_of(10**18, wrench),
        "instead of the first: deserialize it": lambda i: deserialize_message(packed, JointState),
        "instead of the second: fill and serialize a message": fill,
    }
