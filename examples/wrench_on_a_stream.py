"""Predict and learn a wrench while a robot moves, message by message, and measure what is put into its hand.

    python examples/wrench_on_a_stream.py

The simulated iCub stands in for a robot: in a program of your own, `joint_state` and `measurement` are called from
whatever brings the messages. No ROS is needed.
"""

import argparse

import numpy as np

from icub_learning.dynamics import assembly
from icub_learning.errors import SampleError
from icub_learning.robots import find_urdf
from icub_learning.simulation import ArmSimulation
from icub_learning.simulation.arm.disturbances import MAX_MASS

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seconds", type=float, default=20.0, help="time to learn in, simulated")
parser.add_argument("--mass", type=float, default=0.5, help="of what is put into the hand then [kg]")
args = parser.parse_args()
if not args.seconds >= 1.0:
    parser.error(f"--seconds is {args.seconds:g}, but must be at least 1")
if not 0.0 <= args.mass <= MAX_MASS:
    parser.error(f"--mass is {args.mass:g}, but must be within [0, {MAX_MASS:g}] kg, which the simulated arm can carry")

robot = ArmSimulation()
names = robot.arm.joint_names
# watch="wrench", the default, would identify what is put into the hand and include it in the prediction.
settings = assembly.Settings(urdf=find_urdf("icub"), joints=names, n_random_features=300, watch="never")
regressor = assembly.make_regressor(settings)
stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))


def run(seconds: float) -> np.ndarray:
    """Let the robot move; return the part of each measured wrench beyond its prediction, (n, 6) [N, N m]."""
    external = []
    for _ in range(round(seconds * 200)):  # 200 Hz; the simulation makes 1000 steps a second
        for _ in range(5):
            robot.step()
        seen = robot.sensors()
        try:
            prediction = stream.joint_state(seen.stamp, names, seen.position, seen.velocity).prediction
            assert np.isfinite(prediction.total).all()  # use it here, at once: control, compensation
            stream.measurement(seen.stamp, seen.wrench)
        except SampleError as error:  # the stream counts what it refuses; nothing learned is lost
            print(f"refused: {error}")
        external += [pair.external for pair in stream.pair()]
        stream.learn()
    return np.array(external)


print("learning: RMSE of the predicted force over each quarter [N]")
for _ in range(4):
    errors = run(args.seconds / 4)
    print(f"  after {stream.counts.learned:5d} samples: {np.sqrt(np.mean(errors[:, :3] ** 2)):.2f}")

stream.learning = False  # what follows is to be measured, not learned
before = run(3.0)
robot.attach_payload(args.mass)
run(0.5)  # the arm settles under its load
after = run(3.0)
felt, free = (float(np.sqrt(np.mean(np.sum(part[:, :3] ** 2, axis=1)))) for part in (after, before))
print(f"external force: {free:.2f} N with an empty hand, {felt:.2f} N with {args.mass} kg in it")
print(f"(the weight of {args.mass} kg is {9.81 * args.mass:.2f} N)")
