"""Reading robots: what moves, what is held, and every way in which a URDF can be wrong."""

import re
import sys

import numpy as np
import pytest
from helpers import point_mass_arm
from helpers.robots import ICUB, RIGHT_ARM

from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.errors import ModelError

ARM, JOINTS = point_mass_arm.urdf(), point_mass_arm.JOINTS
MASS = f'mass value="{float(point_mass_arm.POINTS["spin"][0].sum())!r}"'


def test_a_path_a_string_xml_text_and_the_kept_text_give_the_same_model():
    one = RobotModel(ICUB, RIGHT_ARM, "r_arm_ft_sensor")
    assert "mesh" not in one.urdf
    for source in (str(ICUB), "\n" + ICUB.read_text(), one.urdf):
        assert RobotModel(source, RIGHT_ARM, "r_arm_ft_sensor").model == one.model


@pytest.mark.parametrize("held", [(), ("turn",), ("slide",)])
def test_links_and_joints_may_share_names(held):
    """Pinocchio looks frames up by name, whichever of both they are."""
    joints = [name for name in JOINTS if name not in held]
    models = [RobotModel(urdf, joints) for urdf in (ARM, ARM.replace('_link"', '"'))]
    one, other = (np.array([body.toDynamicParameters() for body in robot.model.inertias]) for robot in models)
    np.testing.assert_array_equal(one, other)
    assert models[1].body_names == tuple(name.removesuffix("_link") for name in models[0].body_names)
    for link in point_mass_arm.POINTS:
        placed = [(models[0], f"{link}_link"), (models[1], link)]
        frames = [robot.model.frames[robot.frame_of(name)] for robot, name in placed]
        assert len({(frame.parentJoint, str(frame.placement)) for frame in frames}) == 1


@pytest.mark.parametrize(("source", "text"), [
    ("/nowhere/robot.urdf", "No such file"), ("/", "directory"), ("", "directory"), ("bad\0name", "null"),
    (" <robot", "does not parse"), ("<sdf/>", "<sdf>"), ("<robot name='empty'/>", "no joint 'turn'"),
    (sys.executable, f"URDF file {sys.executable}: 'utf-8' codec"),
    ("<robot xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:include filename='a'/></robot>", "xacro"),
    (ARM.replace('child link="tip_link"', 'child link="turn_link"'), "'turn_link' of the URDF has two parents"),
    (ARM.replace('parent link="base"', 'parent link="tip_link"'), "is its own ancestor"),  # a loop without a root
    (ARM.replace('parent link="base"', 'parent link="turn_link"'), "'turn_link' of the URDF is its own ancestor"),
    (ARM.replace('parent link="base"', 'parent link="nowhere"'), "Pinocchio"),
    (re.sub('<axis xyz="[^"]*"', '<axis xyz="0 -0.0 0"', ARM, count=1), "the axis of joint 'turn' is '0 -0.0 0'"),
    (ARM.replace(" iyy=", " other=", 1), r"turn_link\.inertia\.iyy"),
    (ARM.replace('name="turn" type="revolute"', 'name="turn" type="floating"'), "'turn' is floating"),
    (re.sub('<origin xyz="[^"]*"', '<origin xyz="1 2"', ARM, count=1), r"turn_link\.origin\.xyz"),
    *((ARM.replace(MASS, f'mass value="{given}"'), rf"spin_link\.mass\.value of the URDF is '{given}'")
      for given in ("nan", "inf", "heavy", "", "1 2")),  # the URDF parser would go on with a link without mass
])  # fmt: skip
def test_a_urdf_that_cannot_be_used_is_refused_with_the_reason(source, text):
    with pytest.raises(ModelError, match=text):
        RobotModel(source, JOINTS)


@pytest.mark.parametrize(("joints", "sensor", "text"), [
    (["turn", "spim"], None, "no joint 'spim'; did you mean spin"),
    (["nothing_like_it"], None, "no joint 'nothing_like_it'"), (["turn", None], None, "no joint 'None'"),
    (["turn", "spin", "turn"], None, "'turn' is listed more than once"), (["turn", "tip"], None, "'tip' is fixed"),
    ([], None, "non-empty list"), ("turn", None, "non-empty list"), (None, None, "joints is None"),
    (JOINTS, "sensors", "no sensor joint 'sensors'; did you mean sensor"),
    (JOINTS, "spin", "'spin' is continuous, but must be fixed"),
])  # fmt: skip
def test_joints_and_sensors_that_cannot_be_used_are_refused_by_name(joints, sensor, text):
    with pytest.raises(ModelError, match=text):
        RobotModel(ARM, joints, sensor)
