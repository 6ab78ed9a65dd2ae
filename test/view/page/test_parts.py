"""What each part of the page shows of a state, and what its buttons ask, on a page without a browser."""

import io
import os
import re
import time
from collections import defaultdict
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from icub_learning.detection.boxes import Detections
from icub_learning.detection.drawing import annotated
from icub_learning.recognition.recognizer import Recognition
from icub_learning.recording.recording import AXES
from icub_learning.simulation.zoo.bodies import planar_arm_urdf
from icub_learning.view.page.controls import Action
from icub_learning.view.page.curves import lines_of
from icub_learning.view.page.page import Page
from icub_learning.view.page.pictures import smaller, words
from icub_learning.view.page.robot import BESIDE, LONGEST_ARROW
from icub_learning.view.shown.state import Answer, Health, Learner, Load, Masses, Robot, State, Watcher

SECOND = 10**9  # [ns]
JOINTS = ("joint_1", "joint_2", "joint_3", "joint_4")


def text(handle):
    """Return the text of an HTML part, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", handle.content).split())


def learner(name, outputs, frame="", size=1.0, **fields):
    """Return a learner whose outputs were 1 * size, 2 * size... for three seconds, each predicted as half of it."""
    made, measured = Learner(name, outputs, frame, **fields), size * np.arange(1.0, len(outputs) + 1)
    for second in (1, 2, 3):
        made.curves.add(second * SECOND, measured, measured / 2, measured / 4, np.full(len(outputs), 0.25))
    return made


@pytest.fixture
def actions(monkeypatch):
    """All buttons of a page, by label."""
    found, init = defaultdict(list), Action.__init__

    def kept(self, server, label, *others):
        init(self, server, label, *others)
        found[label].append(self)

    monkeypatch.setattr(Action, "__init__", kept)
    return found


@pytest.fixture
def page(actions, tmp_path):
    """A page with the list `asked` of what its services were asked."""

    def ask(node, service, takes=0.0, **fields):
        made.asked.append((node, service, takes, fields))
        if made.error:
            raise made.error
        return Answer(service != "tare", "" if service == "reset" else f"{service} was asked")

    with closing(Page("127.0.0.1", 0, ask=ask, folder=tmp_path)) as made:
        made.asked, made.error, made.server.get_clients = [], None, lambda: {0: None}  # a browser is connected
        yield made


def test_a_wrench_is_drawn_at_its_frame_and_its_errors_beside_it(page):
    arm = learner("/arm", AXES, "link_2", weights={"force.x": {"P": 0.25, "SP": 0.75}})
    arm.load, arm.contact = Load(0.5, np.array([0.01, -0.02, 0.03]), "hand"), True
    arm.masses = Masses(("a", "b"), *np.array([[1.0, 2.0], [1.5, 2.5], [1.25, 2.25]]), n_samples=7)
    state = State(planar_arm_urdf((0.4, 0.3), (2.0, 1.0)), joints={"joint_1": 0.5}, learners={"/arm": arm})
    page.update(state)
    arm.curves.add(5 * SECOND, *np.ones((2, 6)), np.zeros(6), np.full(6, 0.25))
    state.health = {"arm: stream": Health(1, "slow", {"refused": "3", "samples learned": "0"}, time.monotonic())}
    state.health["gone"] = Health(0, "fine", {}, time.monotonic() - 6.0)
    state.lost, state.doing = {"/states": 4}, "learning"
    page.update(state)
    assert not page.said
    # Two points are less than 3 s old: that at 3 s with errors of half the outputs, and that at 5 s, which is exact.
    force, torque = np.sqrt(np.square([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).sum(axis=1) / 4 / 6)
    assert list(page.errors.titles) == ["force", "torque"]
    for (name, title), unit, expected in zip(page.errors.titles.items(), ("N", "N m"), (force, torque), strict=True):
        found = re.fullmatch(rf"error of {name} \[{unit}\]: now P (\S+), SP (\S+)", text(title))
        assert float(found[1]) > float(found[2]) == pytest.approx(expected, rel=0.1)
    assert "RMSE over 3 s" in text(page.errors.legend) and "force.x 25 % - 75 %" in text(page.weights.content)
    curves = page.curves
    assert [text(title) for title in curves.titles] == ["force.x [N]", "force.y [N]", "force.z [N]"]
    seconds, low, high, measured, predicted, external = curves.plots[1].data
    np.testing.assert_allclose(seconds, [0, 1, 2, 4])
    np.testing.assert_allclose([measured, predicted, external], [[2, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 0]])
    np.testing.assert_allclose([low, high], np.add.outer([-1.0, 1.0], predicted))  # two standard deviations
    pose = page.robot.geometry.poses(state.joints, ["link_2"])["link_2"]
    for kind, force in {"measured": 1.0, "predicted": 1.0, "external": 0.0}.items():
        start, end = page.robot.arrows[kind].points[0]
        np.testing.assert_allclose(start, pose[:3, 3] + [0, BESIDE[kind], 0], atol=1e-6)
        np.testing.assert_allclose(end - start, LONGEST_ARROW / 20.0 * force * pose[:3, :3].sum(axis=1), atol=1e-6)
    assert text(page.body.seen) == "load 0.500 kg at (10, -20, 30) mm of hand contact"
    assert all(row in text(page.body.masses) for row in ("a 1.00 1.25 1.50", "sum 3.00 3.50 4.00", "7 samples learned"))
    nodes = text(page.nodes.content)
    assert "arm: stream: WARN slow refused 3" in nodes and "samples learned" not in nodes
    assert "gone: STALE has stopped reporting" in nodes and "/states 4" in nodes and text(page.doing.line) == "learning"
    assert not page.waiting.visible
    for arm.frame, drawn in (("nowhere", False), ("link_2", True)):
        page.update(state)
        assert [arrow.visible for arrow in page.robot.arrows.values()] == [drawn] * 3


def test_efforts_are_drawn_along_the_axes_of_their_joints_three_curves_at_a_time(page):
    arm = learner("/arm", JOINTS, size=2.0, settings={"estimator": "parametric"})
    page.update(State(planar_arm_urdf((0.4, 0.3, 0.2, 0.1), (2.0, 1.0, 0.5, 0.5)), learners={"/arm": arm}))
    assert not page.said and [text(title) for title in page.curves.titles] == [f"{name} [N m]" for name in JOINTS[:3]]
    assert list(page.curves.group.options) == ["joint_1, joint_2, joint_3", "joint_4"]
    axes, scale = page.robot.geometry.joint_axes(JOINTS), LONGEST_ARROW / 8.0  # [m] per N m; 8 N m is the largest
    for kind, share in (("measured", 1.0), ("predicted", 0.5), ("external", 0.5)):
        arrows = page.robot.arrows[kind].points
        for (origin, axis), effort, (start, end) in zip(axes.values(), (2.0, 4.0, 6.0, 8.0), arrows, strict=True):
            np.testing.assert_allclose(start, origin + BESIDE[kind], atol=1e-6)
            np.testing.assert_allclose(end - start, scale * share * effort * axis, atol=1e-6)
    page.curves.group.value = "joint_4"
    other = learner("/b", JOINTS)  # whose robot is another one; the first is gone: what is drawn of it stays away
    robots = {"/arm": Robot(), "/b": Robot(planar_arm_urdf((0.4,), (2.0,)), joints={"joint_1": 0.3})}
    for page._choice._box.value, joints in (("/arm", None), ("/b", ("joint_1",))):
        page.update(State(learners={"/arm": arm, "/b": other}, robots=robots, joints={"joint_1": 0.5}))
        assert (page.robot.geometry and page.robot.geometry.joints) == joints
    assert page.robot._sent[1, 3] == pytest.approx(np.cos(0.15))  # its own position
    assert [text(title) for title in page.curves.titles] == ["joint_4 [N m]", "", ""]
    assert [plot.visible for plot in page.curves.plots] == [True, False, False]
    page.update(State())
    assert page.waiting.visible


def test_lines_of_errors_are_those_of_nodes_that_predict_the_same_or_of_parts():
    def names(*learners):
        state = State(learners={one.name: one for one in learners})
        return [(name, one.name, part) for name, one, part in lines_of(state, learners[0])]

    for estimator, lines in (
        ("parametric", [("P", "/a", "predicted")]), ("nonparametric", [("NP", "/a", "predicted")]),
        ("semiparametric", [("P", "/a", "parametric"), ("SP", "/a", "predicted")]),
        ("my_package.dynamics.Own", [("Own", "/a", "predicted")]),
    ):  # fmt: skip
        one = learner("/a", JOINTS, settings={"estimator": estimator})
        assert names(one, learner("/b", AXES), learner("/c", JOINTS, alive=False)) == lines
    many = [learner(f"/n_{kind}", JOINTS) for kind in ("z", "sp", "np", "p")]
    assert [name for name, _, _ in names(*many)] == ["P", "NP", "SP"]


def test_what_the_camera_sees_and_is_recognized_as(page):
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    eye, finds = Watcher({"duck": 20}, camera="/image"), Watcher(camera="/image")
    state = State(images={"/image": image, "/other": image + 1}, recognizers={"/eye": eye, "/": Watcher()})
    page.update(state)
    np.testing.assert_array_equal(page.camera.image.image, image)
    assert "duck 20 frames –" in text(page.teaching.objects.table) and page.teaching.parts[0].visible
    assert text(page.detection.objects.table) == "none yet" and not page.detection.parts[0].visible
    finds.boxes = Detections(np.array([[1.0, 1.0, 3.0, 3.0]]), ["cup"], np.array([0.5]))
    state.images, state.detectors = {"/image": image.copy(), "/other": image + 1}, {"/find": finds}
    page.update(state)
    assert (page.camera.image.image != image).any() and "cup 0.50" in text(page.camera.words)
    finds.camera, state.images["/image"] = "/other", image.copy()  # its boxes are of another camera: they are left out
    page.update(state)
    np.testing.assert_array_equal(page.camera.image.image, image)
    assert text(page.camera.words) == "nothing is being recognized"
    eye.recognized = Recognition(0, "unknown", "duck", 0.75, 0.25, ["duck", "cup"], np.array([0.5, -1.0]))
    page.update(state)
    assert text(page.camera.words).startswith("unknown, nearest duck confidence 0.75, typicality 0.25")
    assert re.findall(r'name">(\w+)</span>.*?width:(\d+)%', page.camera.words.content) == [("duck", "75"), ("cup", "0")]
    state.recognizers["/z"] = Watcher({"cup": 3}, camera="/other")
    for page._recognizer._box.value in ("/eye", "/z"):  # the latter with its own camera, words and objects
        page.update(state)
    np.testing.assert_array_equal(page.camera.image.image, smaller(annotated(image + 1, finds.boxes)))
    assert "cup 0.50" in text(page.camera.words) and "cup 3 frames" in text(page.teaching.objects.table)
    page.teaching._frames.value = 300
    assert page.teaching.lesson("cup").takes == page.teaching.lesson("cup").fields["timeout"] == 300.0  # 1 s for each
    state.recognizers["/z"].objects = {"none is known": 1}
    state.images, state.detectors = {}, {}
    page.update(state)
    assert page.teaching.which.name == "none is known" and page.detection.which.name == ""
    assert (page.camera.image.image == 236).all()  # its camera has gone
    assert "no known object" in words(None, Detections(np.zeros((1, 4)), ["cup"], np.array([-0.1])))
    for side, left in ((480, 480), (481, 241), (961, 321)):
        assert smaller(np.zeros((side, 2, 3), np.uint8)).shape[0] == left


def test_many_objects_are_searched_and_sorted_and_their_pictures_loaded_when_they_are_seen(page):
    counts = {f"mug {k}" if k % 3 else f"<Duck> {k}": k + 1 for k in range(300)}
    recall = {label: (float("nan") if k == 7 else k / 300) for k, label in enumerate(counts)}
    image = np.full((480, 640, 3), 90, np.uint8)
    seen = Recognition(0, "mug 8", "mug 8", 0.9, 0.5, list(counts), np.arange(300) / 300)
    eye = Watcher(counts, recall, seen, camera="/image")
    state = State(recognizers={"/eye": eye, "/a": Watcher({"mug 8": 1})}, images={"/image": image})
    connected, page.server.get_clients = page.server.get_clients, dict
    page.update(state)  # what is seen without a browser counts
    page.server.get_clients, eye.recognized = connected, replace(seen, stamp=400_000_000)
    state.images["/image"] = image.copy()
    page.update(state)
    part = page.teaching.objects
    rows = re.findall(r'<span class="name" title="(.*?)">', part.table.content)
    assert len(rows) == 300 and rows[0] == "mug 299" and "&lt;Duck&gt; 0" in rows and "<Duck>" not in part.table.content
    assert page.teaching.which.name == "mug 299" and " more" not in text(part.table)
    bars = re.findall(r'class="name">(.*?)</span>', page.camera.words.content)
    assert bars[0] == "mug 299" and len(bars) == 12 and "and 288 lower ones" in text(page.camera.words)
    # At 1.2 s the image of 0 s is confirmed, and by then another one is there; at 3.7 s that of 2.6 s, which is better.
    numbers, pictures = [0], []
    for seconds, confidence in {0.5: 1.0, 1.2: 0.8, 2.3: 1.0, 2.5: 1.0, 2.6: 0.95, 3.7: 1.0}.items():
        label = "unknown" if seconds == 2.5 else "mug 8"
        eye.recognized = replace(seen, stamp=round(seconds * 1e9), label=label, confidence=confidence)
        state.images["/image"] = image + np.uint8(100 * (seconds > 1.0))
        page.update(state)
        numbers += map(int, re.findall(r'<img loading="lazy" alt="" src="/thumbnails/(\d+)">', part.table.content))
        pictures.append(numbers[-1] and np.asarray(Image.open(io.BytesIO(page.thumbnails.picture(numbers[-1])))))
    np.testing.assert_allclose(pictures[1:], [np.full((72, 96, 3), level) for level in (90, 90, 90, 90, 190)], atol=4)
    assert pictures[0] == 0 and page.thumbnails.picture(numbers[1]) is None  # a better picture has replaced it
    part.words.value, part.order.value = "DUCK 1", "least surely known first"
    page.update(state)
    shown = re.findall(r'title="&lt;Duck&gt; (\d+)">', part.table.content)
    assert shown == [str(k) for k in range(300) if k % 3 == 0 and "1" in str(k)]
    assert f"{len(shown)} of 300 objects" in text(part.table) and "&lt;Duck&gt; 12 13 frames 4 %" in text(part.table)
    assert page.teaching.which.names == tuple(f"<Duck> {k}" for k in shown)
    part.words.value = ""
    page.update(state)
    assert re.findall(r'title="(mug \d+)">', part.table.content)[0] == "mug 7"  # its recall is not known
    assert page.thumbnails.number("/a", "mug 8") is None  # another node's object of this name
    eye.objects = {"cup": 1}
    page.update(state)
    assert page.thumbnails.number("/eye", "mug 8") is None and page.teaching.which.name == "cup"
    eye.objects, page.thumbnails.renaming = {"cup": 1, "mug": 1}, (("/eye", "cup"), ("/eye", "jar"))  # as `Rename` does
    for second in (5, 7):
        eye.recognized, state.images["/image"] = replace(seen, stamp=second * SECOND, label="cup"), image.copy()
        page.update(state)
    number, state.detectors = page.thumbnails.number("/eye", "cup"), {"/find": eye}
    for names, kept in ((("jar", "mug"), number), (("mug", "jar"), None)):  # names that were swapped keep no picture
        eye.objects = dict.fromkeys(names, 1)
        page.update(state)
        assert page.thumbnails.number("/eye", "jar") == kept and page.teaching.which.names == names
        assert page.detection.which.names == names[::-1] and number


def test_an_error_in_one_part_is_said_once_and_the_others_go_on(page, capsys):
    for health in (None, 1, 1, "a", [], {}):
        page.update(State(health={"arm": health}, recognizers={"/eye": Watcher({"duck": 20})}))
    kinds = ("int", "str", "list", "dict")  # the last four
    assert page.said == [f"NodesView: AttributeError: '{kind}' object has no attribute 'arrival'" for kind in kinds]
    assert capsys.readouterr().err.count("Traceback") == 5 and "duck 20 frames" in text(page.teaching.objects.table)
    meshes = "".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in "abcd")
    for urdf in (f'<robot name="r"><link name="l">{meshes}</link></robot>', "<robot>"):
        page.update(State(urdf))
    assert page.said[2] == "4 meshes were not found, sticks stand for them: a, b, c"
    assert page.said[3].startswith("the robot cannot be drawn: ")


def test_pictures_of_what_is_being_done_appear_when_they_are_drawn(page, tmp_path):
    for side in (3, 5, 2000):  # drawn anew, also wider than the page
        Image.fromarray(np.full((side, side, 3), 7, np.uint8)).save(tmp_path / "curves.png")
        os.utime(tmp_path / "curves.png", (side, side))
        for _ in range(20):
            page.update(State())
        (shown,) = page.doing.pictures.values()
        assert shown._impl.parent_container_id == page.doing.line._impl.parent_container_id  # the tab
        assert shown.label == "curves" and shown.image.shape[0] == min(side, 1100)
    assert text(page.doing.line) == "starting"


def test_buttons_ask_the_chosen_node_and_say_what_it_answered(page, actions):
    arm = learner("/arm", JOINTS)
    page.update(State(learners={"/arm": arm}, recognizers={"/eye": Watcher()}, detectors={"/find": Watcher()}))
    nodes, objects = ("/arm", "/eye", "/find"), {"label": "", "seconds": 8.0, "source": "motion"}
    for label, asking, service, takes, fields in (
        ("Teach", ("/eye",), "teach", 20.0, {"label": "", "n_frames": 20, "timeout": 20.0}),
        ("Teach detector", ("/find",), "teach_detection", 28.0, objects),
        ("Forget", ("/eye", "/find"), "forget_object", 0.0, {"label": ""}),
        ("Rename", ("/eye",), "rename_object", 0.0, {"old_label": "", "new_label": ""}),
        ("Identify load", ("/arm",), "identify_payload", 5.0, {"timeout": 5.0}), ("Tare", ("/arm",), "tare", 0.0, {}),
        ("Learn", ("/arm",), "set_learning", 0.0, {"data": True}), ("Forget all", nodes[:2], "reset", 0.0, {}),
        ("Predict only", ("/arm",), "set_learning", 0.0, {"data": False}),
        *((f"{verb.title()}", nodes, f"{verb}_model", 10.0, {"path": ""}) for verb in ("save", "load")),
        ("Merge", nodes[:2], "merge_model", 10.0, {"path": ""}),
    ):  # fmt: skip
        for action, node in zip(actions[label], asking, strict=True):
            action.press()
            assert page.asked[-1] == (node, service, takes, fields)
            said = {"tare": "✗ tare was asked", "reset": "✓ done"}.get(service, f"✓ {service} was asked")
            assert text(action.answer) == said
    assert page.thumbnails.renaming == (("/eye", ""),) * 2
    page.error = KeyError()
    action.press()
    assert text(action.answer) == "✗ KeyError"
    action.button.disabled, count = True, len(page.asked)
    action.press()
    assert len(page.asked) == count
