"""Identify what is put into a robot's hand while it moves, and notice when somebody pushes.

    python examples/identify_a_load.py

The simulated iCub stands in for a robot, without ROS; the node publishes the same as `~/payload` and `~/contact`.
"""

import argparse

from icub_learning.dynamics import assembly
from icub_learning.robots import find_urdf
from icub_learning.simulation import ArmSimulation
from icub_learning.simulation.arm.disturbances import MAX_MASS

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seconds", type=float, default=20.0, help="time to learn in, simulated; more than 10")
parser.add_argument("--mass", type=float, default=0.5, help="of what is put into the hand then [kg]")
args = parser.parse_args()
if not args.seconds > 10.0:
    parser.error(f"--seconds is {args.seconds:g}, but must be more than 10")
if not 0.0 <= args.mass <= MAX_MASS:
    parser.error(f"--mass is {args.mass:g}, but must be within [0, {MAX_MASS:g}] kg, which the simulated arm can carry")

robot = ArmSimulation()
names = robot.arm.joint_names
# load_link: the link that carries loads; the identified parameters are expressed in its frame.
settings = assembly.Settings(
    urdf=find_urdf("icub"), joints=names, n_random_features=300, load_link=robot.arm.hand, velocity_delay=0.004
)
regressor = assembly.make_regressor(settings)
stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
watch = stream.watch
assert watch is not None
seen = ""


def run(seconds: float) -> None:
    """Let the robot move and learn; print each change of what is detected."""
    global seen
    for _ in range(round(seconds * 200)):
        for _ in range(5):
            robot.step()
        shown = robot.sensors()
        stream.joint_state(shown.stamp, names, shown.position, shown.velocity)
        stream.measurement(shown.stamp, shown.wrench)
        stream.pair()
        stream.learn()  # neither loads nor contacts are learned
        if watch.phase != seen:
            seen = watch.phase
            print(f"{robot.time:7.3f} s: {seen}")


run(args.seconds)
print(f"putting {args.mass:g} kg into the hand")
robot.attach_payload(args.mass, (0.0, 0.01, 0.02))
run(4.0)
load = watch.load
if load is not None:
    print(f"found {load.mass:.3f} ± {load.mass_deviation:.3f} kg at {load.centre.round(3)} m")
print("dropping it")
robot.attach_payload(0.0)
run(1.0)
print("pushing")
robot.push((0.0, 5.0, 0.0), 0.5)
run(1.0)
print(f"{stream.counts.learned} samples learned, {stream.counts.withheld} withheld from learning")
