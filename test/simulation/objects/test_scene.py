"""Objects before the eye: the same view looks the same, others differ, and one line says what is missing."""

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from helpers.arm_steps import hand_position
from PIL import Image

from icub_learning.errors import ObjectError, ParameterError
from icub_learning.robots import find_urdf
from icub_learning.simulation import UNSEEN, ObjectScene, View, find_objects
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.objects.catalogue import KNOWN
from icub_learning.simulation.objects.image_folders import write_images
from icub_learning.simulation.objects.meshes import RADIUS, read_object
from icub_learning.simulation.objects.scene_model import SHOWING
from icub_learning.simulation.objects.views import SCENE_PERIOD, eye_position, gaze_axes, random_view, turning_view

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n"

pytestmark = pytest.mark.usefixtures("renderer")


@pytest.fixture(scope="module")
def scene() -> Iterator[ObjectScene]:
    with ObjectScene(["duck", "mug", "soccer_ball"], seed=3, size=(96, 80)) as made:
        yield made


def test_a_view_is_drawn_from_seed_number_and_name_alone(scene: ObjectScene) -> None:
    def seen(shown: ObjectScene, name: str) -> np.ndarray:
        shown.show(name)
        return shown.render(7).astype(int)

    first = seen(scene, "mug")
    assert scene.render(3).shape == (80, 96, 3) and scene.render(3).dtype == np.uint8
    assert np.abs(seen(scene, "duck") - first).mean() > 5
    np.testing.assert_array_equal(seen(scene, "mug"), first)
    with ObjectScene(["mug"], seed=3, size=(96, 80)) as other:  # other objects loaded, other order: the same picture
        np.testing.assert_array_equal(seen(other, "mug"), first)
    with ObjectScene(["mug"], seed=4, size=(96, 80)) as other:
        assert np.abs(seen(other, "mug") - first).mean() > 5


def test_training_and_unseen_views_are_all_distinct_and_turning_is_smooth_but_for_the_background():
    numbers = [*range(200), *range(UNSEEN, UNSEEN + 200)]
    views = [random_view(0, number, name) for number in numbers for name in ("duck", "mug")]
    assert len({view.turn for view in views}) == len({view.background for view in views}) == len(views)
    turns = np.array([view.turn for view in views])
    assert np.histogram(turns, 8, (-np.pi, np.pi))[0].min() > len(views) / 16  # seen from all sides
    tints = np.array([view.tint for view in views])  # from a candle's to an overcast sky's: red and blue lie evenly
    np.testing.assert_allclose(np.diff(tints, 2), 0.0, atol=1e-12)
    assert (tints.max(axis=1) == 1.0).all() and tints.min() > 0.7 and 0.3 < (tints[:, 0] == 1.0).mean() < 0.7
    for name in ("light", "ambient", "light_azimuth", "distance"):
        assert np.std([getattr(view, name) for view in views]) > 0.05
    views = [turning_view(0, time, "duck") for time in np.arange(0.0, 3 * SCENE_PERIOD, 0.002)]
    assert len({view.background for view in views}) == 3
    turns = np.unwrap([view.turn for view in views])
    assert np.ptp(np.diff(turns)) < 1e-9 and np.diff(turns).min() > 0.002
    for name in {one.name for one in fields(View)} - {"turn", "background"}:
        values = np.array([np.atleast_1d(getattr(view, name)) for view in views])
        assert np.abs(np.diff(values, axis=0)).max() < 0.03 and np.ptp(values) > 0.02, name
    others = [turning_view(0, 1.0, "mug"), turning_view(1, 1.0, "duck")]
    assert len({view.background for view in [turning_view(0, 1.0, "duck"), *others]}) == 3


def test_light_and_background_matter_and_the_object_is_where_it_should_be(scene: ObjectScene) -> None:
    def seen(**changes: float) -> np.ndarray:
        return scene.render(replace(View(light=0.5, ambient=0.3, background=1), **changes)).astype(int)

    scene.show("")
    empty = seen()
    scene.show("soccer_ball")
    held = seen()
    rows, columns = np.nonzero(np.abs(held - empty).max(axis=2) > 30)
    assert 0.1 < len(rows) / held[..., 0].size < 0.7  # it fills a sensible part of the picture
    assert np.abs(np.subtract((np.median(rows), np.median(columns)), (40, 48))).max() < 12
    assert seen(light=0.1, ambient=0.1).mean() < 0.6 * held.mean()
    corner, turned = np.s_[:10, :10], seen(turn=1.0)
    assert np.abs(seen(background=2) - held)[corner].mean() > 5
    np.testing.assert_array_equal(turned[corner], held[corner])
    assert np.abs(turned - held).mean() > 1


def test_every_known_object_is_there_and_looks_like_no_other() -> None:
    pictures = []
    with ObjectScene(size=(64, 64)) as everything:
        assert everything.names == tuple(KNOWN) and len(KNOWN) >= 12
        for name in everything.names:
            everything.show(name)
            pictures.append(everything.render(View(turn=0.6, background=5)).astype(int))
    assert min(np.abs(one - other).max() for one, other in combinations(pictures, 2)) > 60


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_hand_with_the_object_is_before_the_eye(side: str) -> None:
    """The open hand is within the limits of the joints, palm up, in front of the eye and within reach of its gaze."""
    arm, q = ArmModel(side), np.deg2rad(SHOWING)
    low, high = arm.limits
    assert ((q >= low - 1e-6) & (q <= high + 1e-6)).all()
    eye, hand = eye_position(side), hand_position(arm, q)
    assert eye[1] * (1 if side == "right" else -1) == pytest.approx(0.034)  # the root's y points to the right
    forward, down = eye[0] - hand[0], eye[2] - hand[2]  # the root's x points backward
    assert 0.2 < forward < 0.35
    assert np.rad2deg(np.arctan2(down - 0.1, forward)) < 30  # [deg] to the middle of an object, 0.1 m above the palm
    with ObjectScene(["mug"], side=side, size=(48, 48)) as made:
        made.show("mug")
        assert made.render(0).std() > 10


def test_the_eye_is_within_the_head_of_the_robot_and_looks_at_its_target_and_keeps_level() -> None:
    model = pinocchio.buildModelFromUrdf(find_urdf("icub"))
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model))
    imu = data.oMf[model.getFrameId("imu_frame")].translation  # on top of the head
    middle = (eye_position("left") + eye_position("right")) / 2
    assert 0.0 < imu[2] - middle[2] < 0.06 and 0.02 < imu[0] - middle[0] < 0.08
    assert middle[1] == pytest.approx(0.0, abs=1e-3)
    eye, target = np.array([[0.0, 0.0, 1.0], [-1.0, 0.5, 0.2]])
    axes = gaze_axes(eye, target)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    np.testing.assert_allclose(-axes[:, 2], (target - eye) / np.linalg.norm(target - eye), atol=1e-12)
    assert axes[2, 0] == pytest.approx(0.0)
    assert np.arccos(gaze_axes(eye, target, roll=0.3)[:, 0] @ axes[:, 0]) == pytest.approx(0.3)


@pytest.mark.parametrize(("given", "error", "part"), [
    ({"objects": ["nose"]}, ObjectError, "duck, teddy, mug"), ({"folder": "/nowhere"}, ObjectError, "/nowhere"),
    ({"seed": -1}, ParameterError, "seed"), ({"size": (8, 64)}, ParameterError, "size"),
    ({"size": (4096, 64)}, ParameterError, "size"), ({"side": "both"}, ParameterError, "side"),
    ({"field_of_view": 0.0}, ParameterError, "field_of_view"),
])  # fmt: skip
def test_unknown_objects_and_folders_and_settings_out_of_range_are_named(given, error, part) -> None:
    with pytest.raises(error, match=part):
        ObjectScene(**{"objects": ["mug"], **given})


def test_bad_requests_change_nothing(scene: ObjectScene) -> None:
    scene.show("duck")
    before = scene.render(1)
    with pytest.raises(ObjectError, match=r"there is no object 'x{60}") as long:
        scene.show("x" * 10_000)
    assert len(str(long.value)) < 500
    with pytest.raises(ParameterError, match="view"):
        scene.render(-1)
    with pytest.raises(ParameterError, match="time"):
        scene.render_turning(float("nan"))
    assert scene.shown == "duck"
    np.testing.assert_array_equal(scene.render(1), before)


def test_urdfs_bring_scale_place_and_colour(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text(SQUARE)
    visual = """
    <visual><origin xyz="0 0 {z}"/><geometry><mesh filename="part.obj" scale="2 2 {scale}"/></geometry>
    <material name="m"><color rgba="{colour} 1"/></material></visual>"""
    first, second = visual.format(z=0, scale=1, colour="1 0 0"), visual.format(z=3, scale=2, colour="0 0.5 0")
    (tmp_path / "thing.urdf").write_text(f'<robot name="r"><link name="l">{first}{second}</link></robot>')
    objects = find_objects(tmp_path)
    assert list(objects) == ["thing"]
    parts = read_object(objects["thing"])
    assert [part.colour for part in parts] == [(1.0, 0.0, 0.0), (0.0, 0.5, 0.0)]
    scale = RADIUS / (np.hypot(2, 5) / 2)
    np.testing.assert_allclose([np.ptp(part.vertices[:, 2]) for part in parts], [scale * 1, scale * 2])
    np.testing.assert_allclose([part.vertices[:, 2].min() for part in parts], [-2.5 * scale, 0.5 * scale])


@pytest.mark.parametrize(("name", "content", "part"), [
    ("empty.obj", "", "empty.obj"), ("broken.stl", "solid nothing", "broken.stl"),
    ("points.obj", "v 0 0 0\nv 1 0 0\n", "points.obj"), ("noise.ply", "\x00\x01garbage", "noise.ply"),
    ("point.obj", "v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", "no extent"),
    ("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "nan.obj"),
    ("robot.urdf", '<robot name="r"><link name="l"/></robot>', "no mesh"),
    ("lost.urdf", '<robot name="r"><link name="l"><visual><geometry><mesh filename="gone.obj"/></geometry></visual>'
                  "</link></robot>", "gone.obj"),
    ("text.urdf", "no XML", "text.urdf"),
    ("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3\nf 2 3 4\n", "line|cannot be shown"),
    *(("scale.urdf", '<robot name="r"><link name="l"><visual><geometry><mesh filename="square.obj" '
       f'scale="{scale}"/></geometry></visual></link></robot>', text)
      for scale, text in (("a b c", "scale.urdf"), ("1 2", "scale='1 2' is not 3 numbers"))),
])  # fmt: skip
def test_broken_files_are_named(tmp_path: Path, name: str, content: str, part: str) -> None:
    (tmp_path / "square.obj").write_text(SQUARE)
    (tmp_path / name).write_text(content)
    with pytest.raises(ObjectError, match=part):
        ObjectScene(folder=tmp_path)


def test_images_are_written_for_each_label_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "pictures"
    (tmp_path / "file").touch()
    with pytest.raises(ObjectError, match=r"file/new cannot be written: File exists$"):
        write_images(tmp_path / "file" / "new", ["duck"])
    (tmp_path / "file").unlink()
    done = []
    made = write_images(target, ["duck", "mug"], 2, 1, seed=5, size=(48, 32), progress=done.append)
    assert (made, done) == ({"train": 4, "test": 2}, [1, 2, 3, 4, 5, 6])
    files = {path.relative_to(target).as_posix() for path in target.rglob("*.png")}
    names = "test/{}/0000.png", "train/{}/0000.png", "train/{}/0001.png"
    assert files == {name.format(label) for name in names for label in ("duck", "mug")}
    with ObjectScene(["mug"], seed=5, size=(48, 32)) as made:
        made.show("mug")
        for file, number in (("train/mug/0001.png", 1), ("test/mug/0000.png", UNSEEN)):
            np.testing.assert_array_equal(np.asarray(Image.open(target / file)), made.render(number))
    with pytest.raises(ObjectError, match="exists already"):
        write_images(target, ["duck"])
    with pytest.raises(ObjectError, match="nose"):
        write_images(tmp_path / "other", ["nose"])
    with pytest.raises(ParameterError, match="views"):
        write_images(tmp_path / "other", ["mug"], 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures"]
