"""The robots of the zoo: on some of them defaults may be chosen, the others only judge.

Figures are those of real robots as far as they are known: a torque-controlled arm read at 1 kHz over a network, an arm
whose currents are read at 125 Hz, an arm with a six-axis sensor that shows large offsets, cheap drives with coarse
currents, direct drives read at 2 kHz.
"""

from dataclasses import replace

from icub_learning.robots import find_urdf
from icub_learning.simulation.zoo.bodies import planar_arm_urdf
from icub_learning.simulation.zoo.drives import Drives
from icub_learning.simulation.zoo.excitation import PointToPoint, SumOfSines, Trapezoids
from icub_learning.simulation.zoo.robot import ZooRobot
from icub_learning.simulation.zoo.sensing import Clock, JointSensors, OutputSensor

_UR = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint")
_ICUB_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_prosup", "wrist_pitch", "wrist_yaw")
_ENCODER_16 = 9.6e-5  # [rad] step of an encoder with 16 bits per turn
_WRENCH_NOISE = (0.3, 0.3, 0.4, 0.006, 0.006, 0.005)  # [N, N m] standard deviation of the noise of a wrench

# fmt: off
_DEVELOPMENT = (
    ZooRobot(
        "xarm7_500hz", find_urdf("xarm7"), tuple(f"joint{number}" for number in range(1, 8)),
        SumOfSines(1.0),
        Clock(500.0, irregularity=0.1, shortest=0.3, stall_share=0.005, longest_stall=0.02, late=0.001),
        JointSensors(position_step=2e-4, velocity_noise=0.02),
        OutputSensor((0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05)),
        Drives(
            coulomb=(0.8, 1.0, 0.5, 0.6, 0.3, 0.3, 0.1), viscous=(0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.1),
            rotor_inertia=(0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.05), ripple=(0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.02),
            ripple_periods=20.0, gear_frequency=18.0
        ),
    ),
    ZooRobot(
        "ur5_currents_250hz", find_urdf("ur5"), _UR,
        PointToPoint(1.2),
        Clock(250.0, irregularity=0.02, repeated=0.08),
        JointSensors(position_step=5e-5, velocity_noise=0.003, velocity_delay=0.004),
        OutputSensor((0.1, 0.1, 0.1, 0.05, 0.05, 0.05), step=0.02),
        Drives(
            coulomb=(5.0, 6.0, 4.0, 1.2, 1.2, 1.0), viscous=(6.0, 7.0, 4.0, 1.2, 1.2, 1.0), stribeck=0.3,
            stribeck_velocity=0.04, load_friction=0.05, rotor_inertia=(2.0, 2.0, 1.2, 0.3, 0.3, 0.3),
            ripple=(0.5, 0.5, 0.3, 0.1, 0.1, 0.1), gain=(12.0, 12.0, 9.0, 8.0, 8.0, 8.0)
        ),
    ),
    ZooRobot(
        "icub_left_arm_wrench_100hz", find_urdf("icub"), tuple(f"l_{joint}" for joint in _ICUB_ARM), SumOfSines(0.8),
        Clock(100.0, irregularity=0.02),
        JointSensors(position_step=_ENCODER_16, velocity_step=0.01, velocity_delay=0.01),
        OutputSensor(_WRENCH_NOISE, step=0.01, offset=(25.0, -40.0, 12.0, 0.8, -1.2, 0.3)), sensor="l_arm_ft_sensor",
    ),
    ZooRobot(
        "tiago_slow_100hz", find_urdf("tiago"), tuple(f"arm_{number}_joint" for number in range(1, 8)),
        SumOfSines(0.25, frequencies=(0.02, 0.1), swell=8.0),
        Clock(100.0, stamp_error=1e-4),
        JointSensors(position_step=3e-4, velocity_noise=0.005),
        OutputSensor((0.2, 0.2, 0.15, 0.15, 0.1, 0.2, 0.2), step=0.15),
        Drives(
            coulomb=(3.0, 3.5, 2.0, 2.2, 0.3, 0.6, 0.6), viscous=(2.0, 2.5, 1.5, 1.5, 0.2, 0.3, 0.3), stribeck=0.5,
            stribeck_velocity=0.1, load_friction=0.12, rotor_inertia=(0.5, 0.5, 0.3, 0.3, 0.02, 0.02, 0.02),
            ripple=(0.5, 0.5, 0.4, 0.4, 0.05, 0.05, 0.05)
        ),
        reach=0.4,
    ),
    ZooRobot(
        "z1_no_velocity_200hz", find_urdf("z1"), tuple(f"joint{number}" for number in range(1, 7)),
        Trapezoids(1.0, 4.0),
        Clock(200.0),
        JointSensors(position_step=1e-4, velocity=False),
        OutputSensor((0.1, 0.15, 0.1, 0.05, 0.05, 0.03), step=0.01, bandwidth=60.0),
        Drives(
            coulomb=(0.8, 1.0, 0.8, 0.4, 0.4, 0.3), viscous=(0.5, 0.6, 0.5, 0.2, 0.2, 0.1), stribeck=0.2,
            rotor_inertia=(0.1, 0.1, 0.08, 0.03, 0.03, 0.02), ripple=(0.1, 0.1, 0.1, 0.05, 0.05, 0.02)
        ),
    ),
    ZooRobot(
        "planar_arm_1khz", planar_arm_urdf((0.35, 0.3), (2.0, 1.2)), ("joint_1", "joint_2"),
        SumOfSines(2.5, frequencies=(0.2, 1.5)), Clock(1000.0), JointSensors(position_step=6e-6, velocity=False),
        OutputSensor((0.03, 0.02)),
        Drives(coulomb=(0.2, 0.1), viscous=(0.1, 0.05), rotor_inertia=(0.02, 0.01), ripple=(0.1, 0.05)),
    ),
)

_PANDA = ZooRobot(
    "panda_1khz", find_urdf("panda"), tuple(f"panda_joint{number}" for number in range(1, 8)),
    SumOfSines(1.0),
    # Stamps 0.7 to 8.8 ms apart (median 1.0), positions in steps of 1e-4 rad, velocity noise of 0.01 rad/s.
    Clock(1000.0, irregularity=0.05, shortest=0.7, stall_share=0.002, longest_stall=0.0088),
    JointSensors(position_step=1e-4, velocity_noise=0.01),
    OutputSensor((0.12, 0.12, 0.1, 0.1, 0.05, 0.05, 0.05), bandwidth=200.0),
    Drives(
        coulomb=(0.55, 0.6, 0.5, 0.5, 0.3, 0.2, 0.25), viscous=(0.4, 0.3, 0.3, 0.3, 0.15, 0.1, 0.15), breakaway=0.01,
        rotor_inertia=(0.6, 0.6, 0.45, 0.45, 0.2, 0.2, 0.2), offset=(0.1, -0.3, 0.2, 0.15, -0.1, 0.05, 0.08),
        ripple=(0.15, 0.2, 0.1, 0.15, 0.05, 0.05, 0.03), gear_frequency=25.0
    ),
)
_UR10 = ZooRobot(
    "ur10_currents_125hz", find_urdf("ur10"), _UR,
    SumOfSines(1.2),
    Clock(125.0, irregularity=0.03, shortest=0.8, repeated=0.05),
    JointSensors(position_step=2e-5, velocity_noise=0.004, velocity_bandwidth=30.0),
    OutputSensor((0.12, 0.12, 0.1, 0.05, 0.05, 0.05), step=0.01),
    Drives(
        coulomb=(9.0, 11.0, 7.0, 2.2, 2.2, 1.9), viscous=(12.0, 13.0, 8.0, 2.5, 2.5, 2.0), stribeck=0.35,
        stribeck_velocity=0.06, load_friction=0.04, rotor_inertia=(4.5, 4.5, 2.2, 0.5, 0.5, 0.5),
        offset=(0.4, -0.6, 0.3, 0.1, 0.1, -0.2), ripple=(0.8, 0.9, 0.6, 0.25, 0.2, 0.2), ripple_periods=31.0,
        gain=(14.9, 13.3, 11.1, 10.6, 11.0, 11.5)
    ),
)
_ICUB = ZooRobot(
    "icub_wrench_50hz", find_urdf("icub"), tuple(f"r_{joint}" for joint in _ICUB_ARM), PointToPoint(0.9),
    Clock(50.0, irregularity=0.05), JointSensors(position_step=_ENCODER_16, velocity_step=0.005),
    OutputSensor(_WRENCH_NOISE, offset=(30.0, 12.0, -70.0, -1.5, 0.8, 0.4)), sensor="r_arm_ft_sensor",
)  # fmt: skip
_JUDGING = (
    _PANDA,
    replace(
        _PANDA, name="panda_1khz_late_point_to_point", excitation=PointToPoint(0.8, pause=0.5),
        clock=Clock(1000.0, irregularity=0.05, shortest=0.7, stamp_error=1e-4, late=0.003, repeated=0.02),
        joint_sensors=JointSensors(position_step=1e-4, velocity_noise=0.01, velocity_bandwidth=50.0),
    ),
    _UR10,
    replace(
        _UR10, name="ur10_trapezoids_no_velocity_125hz", excitation=Trapezoids(1.0, 3.0),
        joint_sensors=JointSensors(position_step=1e-4, velocity=False),
    ),
    replace(
        _UR10, name="ur10_slow_two_joints_still_125hz", excitation=SumOfSines(0.2, frequencies=(0.02, 0.08), swell=8.0),
        clock=Clock(125.0, late=0.004), reach=(0.3, 0.3, 0.3, 0.3, 0.0, 0.0),
    ),
    _ICUB,
    replace(
        _ICUB, name="icub_wrench_100hz", excitation=SumOfSines(1.0, frequencies=(0.05, 0.6)),
        clock=Clock(100.0, irregularity=0.02, repeated=0.01),
        joint_sensors=JointSensors(position_step=_ENCODER_16, velocity_noise=0.01, velocity_bandwidth=15.0),
        output_sensor=OutputSensor(
            _WRENCH_NOISE, offset=(-70.0, 25.0, 40.0, 1.2, -0.7, 0.9), drift=(1.0, 1.0, 1.5, 0.03, 0.03, 0.03)
        ),
    ),
    replace(
        _ICUB, name="icub_wrench_200hz", excitation=SumOfSines(1.2, frequencies=(0.1, 0.8)),
        clock=Clock(200.0, irregularity=0.03, late=0.002),
        joint_sensors=JointSensors(position_step=_ENCODER_16, velocity=False),
        output_sensor=OutputSensor(
            _WRENCH_NOISE,
            offset=(20.0, -70.0, 35.0, -0.9, 1.4, -0.3),
            gain=(
                (1.03, 0.02, -0.01, 0.3, -0.2, 0.1), (-0.015, 0.97, 0.01, 0.2, 0.3, -0.2),
                (0.01, -0.02, 1.02, -0.3, 0.2, 0.3), (0.0004, -0.0003, 0.0002, 1.02, 0.01, -0.01),
                (-0.0002, 0.0004, 0.0003, -0.015, 0.98, 0.01), (0.0003, 0.0002, -0.0003, 0.01, -0.02, 0.6),
            ),
        ),
    ),
    ZooRobot(
        "planar_arm_2khz", planar_arm_urdf((0.4, 0.35, 0.2), (2.5, 1.4, 0.6)), ("joint_1", "joint_2", "joint_3"),
        SumOfSines(4.0, frequencies=(0.3, 2.5)),
        Clock(2000.0, irregularity=0.02),
        JointSensors(position_step=1.5e-5, velocity_noise=0.02),
        OutputSensor((0.05, 0.03, 0.02)),
        Drives(
            coulomb=(0.3, 0.15, 0.08), viscous=(0.1, 0.06, 0.03), rotor_inertia=(0.03, 0.015, 0.005),
            ripple=(0.15, 0.08, 0.04), ripple_periods=7.0
        ),
    ),
)  # fmt: skip

# fmt: on
DEVELOPMENT = tuple(robot.name for robot in _DEVELOPMENT)
JUDGING = tuple(robot.name for robot in _JUDGING)
ZOO: dict[str, ZooRobot] = {robot.name: robot for robot in (*_DEVELOPMENT, *_JUDGING)}
