"""Learn a robot's inverse dynamics from a recording, judge every prediction before it is learned, and keep the model.

    python examples/learn_a_recording.py                          # 30 s of the simulated iCub, made on the spot
    python examples/learn_a_recording.py RECORDING --urdf ur10 --output joint_torque --joints shoulder_pan_joint ...

RECORDING is a rosbag2 folder, .db3, .mcap, .csv or .npz.
"""

import argparse
from pathlib import Path

from icub_learning.dynamics import assembly
from icub_learning.errors import IcubLearningError
from icub_learning.evaluation.metrics import nmse, rmse
from icub_learning.evaluation.predict_then_learn import evaluate
from icub_learning.models import save_state
from icub_learning.models.ledger import accounted
from icub_learning.recording import read
from icub_learning.robots import find_urdf
from icub_learning.simulation import simulate

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("recording", nargs="?", help="default: a simulated one")
parser.add_argument("--urdf", default="icub", help="path, package:// or the name of a known robot")
parser.add_argument("--joints", nargs="+", metavar="JOINT", help="default: all joints of the recording")
text = "default: wrench if the recording has wrenches, else joint_torque"
parser.add_argument("--output", choices=("wrench", "joint_torque"), help=text)
parser.add_argument("--model", type=Path, default=Path("out/arm.npz"), help="where the model is kept")
parser.add_argument("--seconds", type=float, default=30.0, help="length of the simulated recording")
args = parser.parse_args()
if not args.seconds >= 1.0:
    parser.error(f"--seconds is {args.seconds:g}, but must be at least 1")

try:
    if args.recording:
        recording = read(args.recording)
    else:
        recording = simulate([("circle_xy", args.seconds / 2), ("circle_xz", args.seconds / 2)])
    output = args.output or ("joint_torque" if recording.wrench is None else "wrench")

    # The settings are named like the parameters of inverse_dynamics_node, and the node uses the same stream.
    joints = args.joints or recording.joint_names
    settings = assembly.Settings(urdf=find_urdf(args.urdf), joints=joints, output=output, n_random_features=300)
    regressor = assembly.make_regressor(settings)
    estimator = assembly.make_estimator(settings, regressor)
    stream = assembly.make_stream(settings, regressor, estimator)
    result = evaluate(stream, recording.events())
except IcubLearningError as error:
    parser.error(str(error))
if len(result.stamps) < 5:
    parser.error(f"{len(result.stamps)} joint states have a prediction and a measurement, but at least 5 must")

print(f"{result.n_joint_states} joint states, {result.n_predicted} predictions, {result.n_learned} samples learned")
print(f"median times: {1e6 * sorted(result.predict_seconds)[result.n_predicted // 2]:.0f} µs for a prediction")
print(f"{'output':<22}{'RMSE, first fifth':>18}{'RMSE, last fifth':>18}{'nMSE, last fifth':>18}")
fifth = len(result.stamps) // 5
first, last = rmse(result.errors[:fifth]), rmse(result.errors[-fifth:])
share = nmse(result.errors[-fifth:], result.measured[-fifth:])
for name, *figures in zip(result.output_names, first, last, share, strict=True):
    print(f"{name:<22}{figures[0]:>18.4g}{figures[1]:>18.4g}{figures[2]:>18.4g}")

written = save_state(args.model, accounted(estimator))  # records its samples, so that merging counts each once
print(
    f"the model is in {written}; Python loads it with load_state, and inverse_dynamics_node with ~/load_model from its"
)
print("models_folder, ~/.local/state/icub_learning/models unless that is set: copy it there")
