"""Robots as they are drawn: poses against Pinocchio's own placements, sticks where there are no meshes."""

from pathlib import Path

import numpy as np
import pinocchio
import pytest
import trimesh
from scipy.spatial import KDTree

from icub_learning.errors import ModelError
from icub_learning.robots import find_urdf
from icub_learning.view.shown.geometry import GREY, MOST_TRIANGLES, RobotGeometry, find_mesh, load_mesh, mesh_folders

CHAIN = """<robot name="chain">
<link name="base"/><link name="arm"/><link name="tip"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
  <origin xyz="0 0 0.5"/><axis xyz="0 0 1"/></joint>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="tip"/>
  <origin xyz="0.2 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def test_a_robot_without_shapes_is_drawn_as_sticks_where_its_joints_are():
    robot = RobotGeometry(CHAIN)
    assert robot.joints == ("turn", "slide") and not robot.missing
    sticks = {name: [shape for shape in shapes if shape.kind == "stick"] for name, shapes in robot.shapes.items()}
    assert {name: len(found) for name, found in sticks.items()} == {"base": 1, "arm": 1, "tip": 0}
    # The stick of the arm lies along its x, half of 0.2 m to either side of its middle.
    placement = sticks["arm"][0].placement
    np.testing.assert_allclose(placement[:3, 3], [0.1, 0, 0])
    np.testing.assert_allclose(placement[:3, 2], [1, 0, 0], atol=1e-12)
    assert sticks["arm"][0].size == pytest.approx((0.016, 0.2))
    radii = [shapes[0].size[0] / 1.3 for shapes in robot.shapes.values()]  # balls are thicker than the sticks on them
    assert radii == pytest.approx([0.03, 0.016, 0.008])
    poses = robot.poses({"turn": np.pi / 2, "slide": 0.1, "none": 1.0}, robot.shapes)
    np.testing.assert_allclose(poses["tip"][:3, 3], [0, 0.3, 0.5], atol=1e-12)
    axes = robot.joint_axes(["turn", "slide", "none"])
    assert set(axes) == {"turn", "slide"}
    np.testing.assert_allclose(axes["slide"], [[0, 0.3, 0.5], [0, 1, 0]], atol=1e-12)
    unknown = robot.poses({"turn": np.nan}, ["tip", "none"])  # as at 0
    assert [*unknown] == ["tip"]
    np.testing.assert_allclose(unknown["tip"][:3, 3], [0.2, 0, 0.5], atol=1e-12)


def test_shapes_have_size_place_and_colour_of_the_description_and_meshes_are_looked_for(tmp_path, monkeypatch):
    (mesh := tmp_path / "box.stl").write_bytes(trimesh.creation.box().export(file_type="stl"))
    red, blue = '<material name="red"/>', '<material name="red"><color rgba="0 0 1 1"/></material>'
    table = (
        ('<box size="1 2 3"/>', red, ("box", (1.0, 2.0, 3.0), None, (1.0, 0.5, 0.25))),
        ('<cylinder radius="1" length="2"/>', '<material name="x"/>', ("cylinder", (1.0, 2.0), None, GREY)),
        ('<capsule radius="3" length="4"/>', blue, ("cylinder", (3.0, 4.0), None, (0.0, 0.0, 1.0))),
        ('<sphere radius="5"/>', "", ("sphere", (5.0,), None, GREY)),
        ('<sphere radius="6"/>', '<material name="y"><color rgba="1 2"/></material>', ("sphere", (6.0,), None, GREY)),
        (f'<mesh filename="file://{mesh}" scale="1 2 3"/>', red, ("mesh", (1.0, 2.0, 3.0), mesh, (1.0, 0.5, 0.25))),
        *((broken, "", None) for broken in ('<mesh filename="package://a/b.stl"/>', '<box size="1 2"/>', "")),
    )  # fmt: skip
    place = '<visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
    visuals = "".join(f"{place}<geometry>{one}</geometry>{look}</visual>" for one, look, _ in table)
    visuals += '<visual><origin xyz="1 2"/><geometry><sphere radius="1"/></geometry></visual>'  # is not drawn
    known = '<material name="red"><color rgba="1 0.5 0.25 1"/></material>'
    robot = RobotGeometry(f'<robot name="r">{known}<link name="l">{visuals}</link></robot>')
    shapes = robot.shapes["l"]
    assert [(one.kind, one.size, one.path, one.colour) for one in shapes] == [shape for *_, shape in table if shape]
    for one in shapes:
        np.testing.assert_allclose(one.placement, [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], atol=1e-12)
    assert robot.missing == ["package://a/b.stl"]
    np.testing.assert_allclose(np.ptp(load_mesh(shapes[-1])[0], axis=0), [1, 2, 3])
    mesh.write_bytes(b"")
    with pytest.raises(ModelError, match=rf"{mesh} cannot be read: \w"):
        load_mesh(shapes[-1])
    (mesh := tmp_path / "package" / "box.stl").parent.mkdir()
    mesh.touch()
    for name in ("package://package/box.stl", "model://package/box.stl", "package/box.stl", str(mesh), f"file://{mesh}",
                 "package://another/box.stl"):  # fmt: skip
        assert find_mesh(name, [mesh.parent, tmp_path]) == mesh, name
    for name in ("https://package/box.stl", "package://package", "file://box.stl"):
        assert find_mesh(name, [tmp_path]) is None, name
    monkeypatch.setenv("ROS_PACKAGE_PATH", "/ros")
    folders = [Path(name) for name in ("/r/urdf", "/r", "/ros/share", "/ros")]
    assert folders == [one for one in mesh_folders("/r/urdf/a") if one in folders]


@pytest.mark.parametrize("robot", ["icub", "panda"])
def test_links_are_where_pinocchio_has_them(robot):
    path = find_urdf(robot)
    geometry = RobotGeometry(Path(path).read_text(), path)
    assert not geometry.missing
    model = pinocchio.buildModelFromUrdf(path)
    data, q = model.createData(), np.random.default_rng(1).uniform(-0.5, 0.5, model.nq)
    joints = {name: q[model.joints[model.getJointId(name)].idx_q] for name in geometry.joints}
    pinocchio.framesForwardKinematics(model, data, q)
    # The same poses from the bodies, each placed on its parent, as a page draws them.
    poses, bodies = geometry.poses(joints, geometry.shapes), [np.eye(4)]
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


def test_large_meshes_become_light_and_keep_their_size_and_all_of_their_parts(monkeypatch):
    path = find_urdf("icub")
    vertices, faces = load_mesh(RobotGeometry(Path(path).read_text(), path).shapes["chest"][0])
    assert 100 < len(faces) <= MOST_TRIANGLES and faces.max() < len(vertices)
    assert 0.05 < np.ptp(vertices, axis=0).max() < 0.6  # [m], scaled from mm
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
