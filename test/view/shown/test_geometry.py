"""Robots as they are drawn: poses against Pinocchio's own placements, sticks where there are no meshes."""

from pathlib import Path

import numpy as np
import pinocchio
import pytest
import trimesh
from scipy.spatial import KDTree

from icub_learning.errors import ModelError
from icub_learning.robots import find_urdf
from icub_learning.view.shown.geometry import MOST_TRIANGLES, RobotGeometry, load_mesh

CHAIN = """<robot name="chain">
<link name="base"/><link name="arm"/><link name="tip"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
  <origin xyz="0 0 0.5"/><axis xyz="0 0 1"/></joint>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="tip"/>
  <origin xyz="0.4 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def test_a_robot_without_shapes_is_drawn_as_sticks_where_its_joints_are():
    robot = RobotGeometry(CHAIN)
    assert robot.joints == ("turn", "slide") and not robot.missing
    sticks = {name: [shape for shape in shapes if shape.kind == "stick"] for name, shapes in robot.shapes.items()}
    assert {name: len(found) for name, found in sticks.items()} == {"base": 1, "arm": 1, "tip": 0}
    # The stick of the arm lies along its x, half of 0.4 m to either side of its middle.
    placement = sticks["arm"][0].placement
    np.testing.assert_allclose(placement[:3, 3], [0.2, 0, 0])
    np.testing.assert_allclose(placement[:3, 2], [1, 0, 0], atol=1e-12)
    assert sticks["arm"][0].size[1] == pytest.approx(0.4)
    poses = robot.poses({"turn": np.pi / 2, "slide": 0.1}, robot.shapes)
    np.testing.assert_allclose(poses["tip"][:3, 3], [0, 0.5, 0.5], atol=1e-12)
    axes = robot.joint_axes(["turn", "slide", "none"])
    assert set(axes) == {"turn", "slide"}
    np.testing.assert_allclose(axes["slide"][1], [0, 1, 0], atol=1e-12)


@pytest.mark.parametrize("robot", ["icub", "panda"])
def test_links_are_where_pinocchio_has_them(robot):
    path = find_urdf(robot)
    geometry = RobotGeometry(Path(path).read_text(), path)
    assert not geometry.missing
    model = pinocchio.buildModelFromUrdf(path)
    data, q = model.createData(), np.random.default_rng(1).uniform(-0.5, 0.5, model.nq)
    joints = {name: q[model.joints[model.getJointId(name)].idx_q] for name in geometry.joints}
    pinocchio.framesForwardKinematics(model, data, q)
    poses = geometry.poses(joints, geometry.shapes)
    # The same poses from the bodies, each placed on its parent, as a page draws them.
    bodies = [np.eye(4)]
    for parent, (*position, w, x, y, z) in zip(geometry.parents[1:], geometry.body_poses()[1:], strict=True):
        pose = pinocchio.XYZQUATToSE3(np.array([*position, x, y, z, w]))
        bodies.append(bodies[parent] @ pose.homogeneous)
    assert set(geometry.carriers) == set(geometry.shapes) == set(poses)
    for name, (body, pose) in geometry.carriers.items():
        expected = data.oMf[model.getFrameId(name, pinocchio.FrameType.BODY)].homogeneous
        np.testing.assert_allclose([poses[name], bodies[body] @ pose], [expected] * 2, atol=1e-12)


def test_meshes_that_are_not_found_become_sticks_and_what_is_no_urdf_is_said():
    with pytest.raises(ModelError, match="cannot be drawn"):
        RobotGeometry("<robot>", "")
    text = Path(find_urdf("panda")).read_text().replace(".dae", ".nowhere").replace(".stl", ".nowhere")
    geometry = RobotGeometry(text)
    assert geometry.missing and geometry.shapes
    assert {shape.kind for shapes in geometry.shapes.values() for shape in shapes} <= {"stick", "sphere"}


def test_large_meshes_become_light_and_keep_their_size():
    path = find_urdf("icub")
    shapes = RobotGeometry(Path(path).read_text(), path).shapes
    vertices, faces = load_mesh(shapes["chest"][0])
    assert 100 < len(faces) <= MOST_TRIANGLES and faces.max() < len(vertices)
    assert 0.05 < np.ptp(vertices, axis=0).max() < 0.6  # [m], scaled from mm


def test_large_meshes_of_many_parts_lose_none_of_them(monkeypatch):
    path = find_urdf("ur10")
    shape = RobotGeometry(Path(path).read_text(), path).shapes["upper_arm_link"][0]
    vertices, faces = load_mesh(shape)
    monkeypatch.setattr("icub_learning.view.shown.geometry.MOST_TRIANGLES", 10**9)
    original = load_mesh(shape)
    assert len(faces) < len(original[1]) / 5
    # From points all over the original to the nearest of many points on the coarse mesh.
    coarse, _ = trimesh.sample.sample_surface(trimesh.Trimesh(vertices, faces), 50_000, seed=0)
    points, _ = trimesh.sample.sample_surface(trimesh.Trimesh(*original), 5_000, seed=1)
    assert KDTree(coarse).query(points)[0].max() < 0.02  # [m]; the parts are 0.17 m across
