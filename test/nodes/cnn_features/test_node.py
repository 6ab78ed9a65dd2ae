"""The CNN features node as its users meet it: another process, real images of all kinds, and what is no image."""

import io
import signal
import threading
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from helpers.camera_probe import CameraProbe
from lifecycle_msgs.msg import Transition
from PIL import Image
from rclpy.qos import ReliabilityPolicy

from icub_learning.nodes.common.newest_images import NewestWorker
from icub_learning.recognition import CNNFeatures

QUICK = {"report_period": 0.05}
SECOND = 10**9  # ns


@pytest.fixture(scope="module")
def features():
    return CNNFeatures()


@pytest.fixture(scope="module")
def picture():
    y, x = np.mgrid[:240, :320] / 320.0
    return np.stack([255 * x, 255 * y, 128 + 100 * np.sin(20 * x * y)], axis=2).astype(np.uint8)


def jpeg(picture):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=95)
    return file.getvalue()


def test_features_of_images_of_many_kinds(node_here, features, picture):
    node = node_here("cnn_features", **QUICK)
    expected = features.transform(picture)
    padded = np.pad(picture.reshape(240, -1), ((0, 0), (0, 7)), constant_values=255)
    big = np.stack([picture, np.zeros_like(picture)], axis=-1)
    opaque = np.dstack([picture, np.full((240, 320), 255, np.uint8)])
    with CameraProbe() as camera:
        camera.connect()
        camera.show(picture, 1)
        np.testing.assert_allclose(camera.features_of(1), expected, atol=1e-5)
        camera.show(picture[:, :, ::-1], 2, "bgr8")
        camera.show(padded, 2 * SECOND, "rgb8", width=320)
        np.testing.assert_allclose(camera.features_of(2 * SECOND), expected, atol=1e-5)
        camera.show(big, 3 * SECOND, "rgb16", is_bigendian=1)
        np.testing.assert_allclose(camera.features_of(3 * SECOND), expected, atol=1e-5)
        camera.show(opaque[:, :, [2, 1, 0, 3]], 4 * SECOND, "bgra8")
        np.testing.assert_allclose(camera.features_of(4 * SECOND), expected, atol=1e-5)
        camera.show(picture[:, :, 1], 5 * SECOND, "mono8")
        grey = np.repeat(picture[:, :, 1:2], 3, axis=2)
        np.testing.assert_allclose(camera.features_of(5 * SECOND), features.transform(grey), atol=1e-5)
        camera.show_compressed(jpeg(picture), 6 * SECOND, "rgb8; jpeg compressed bgr8")
        unpacked = np.asarray(Image.open(io.BytesIO(jpeg(picture))))
        found, near = camera.features_of(6 * SECOND), features.transform(unpacked)
        assert found @ near / np.linalg.norm(found) / np.linalg.norm(near) > 0.999
        last = camera.features[-1]
        assert last.source == features.source
        assert (last.header.stamp.sec, last.header.stamp.nanosec) == (6, 0)
        assert camera.report()["refused"] == "0"
        assert camera.diagnostics["source"] == features.source
    assert node.stop() == 0


def test_what_is_no_image_is_refused_with_a_reason_and_the_next_one_is_not(node_here, features, picture):
    node, broken = node_here("cnn_features", **QUICK), jpeg(picture)[:4000]
    expected = features.transform(picture)
    with CameraProbe() as camera:
        camera.connect()
        raw = [
            ("image_empty", {"height": 0}), ("image_empty", {"width": 0}), ("encoding_unknown", {"encoding": "rgb7"}),
            ("encoding_unknown", {"encoding": ""}), ("encoding_without_color", {"encoding": "32FC1"}),
            ("image_step", {"step": 959}), ("image_step", {"step": 0}), ("image_data_length", {"step": 961}),
            ("image_data_length", {"data": []}), ("image_data_length", {"height": 2**32 - 1}),
        ]  # fmt: skip
        compressed = [("image_empty", b""), ("image_compressed", broken), ("image_compressed", b"no picture")]
        counts: dict[str, int] = {}
        bad = [(reason, lambda stamp, f=fields: camera.show(picture, stamp, **f)) for reason, fields in raw]
        bad += [(reason, lambda stamp, c=data: camera.show_compressed(c, stamp)) for reason, data in compressed]
        for index, (reason, show) in enumerate(bad):
            counts[reason] = counts.get(reason, 0) + 1
            show(SECOND * (index + 1))
            wanted = f"refused: {reason}", str(counts[reason])
            camera.report(lambda values, wanted=wanted: wanted in values.items(), f"of {wanted}")
        assert camera.diagnostics["refused"] == str(len(bad))
        assert camera.diagnostics["last refusal"]
        camera.show(picture, 100 * SECOND)
        np.testing.assert_allclose(camera.features_of(100 * SECOND), expected, atol=1e-5)
        assert len(camera.features) == 1
    assert node.stop(signal.SIGTERM) == 0
    assert "Traceback" not in node.output


def test_images_that_come_faster_than_they_can_be_worked_on_are_dropped_for_newer_ones(node_here, picture):
    node_here("cnn_features", **QUICK)
    with CameraProbe() as camera:
        camera.connect()
        for stamp in range(1, 301):
            camera.show(picture[:100, :100], stamp)
            if stamp % 3 == 0:  # two at least wait while a third is worked on
                camera.spin(0.001)
        camera.features_of(300)  # the newest is never dropped
        stamps = [entry.header.stamp.nanosec for entry in camera.features]
        assert stamps == sorted(set(stamps))
        report = camera.report()
        assert int(report["dropped for a newer image"]) > 0
        assert int(report["images received"]) == len(stamps) + int(report["dropped for a newer image"])


def test_large_images_arrive_all(start_node):
    start_node("cnn_features", **QUICK)
    large = np.random.default_rng(0).integers(0, 256, (768, 1024, 3), dtype=np.uint8)
    with CameraProbe() as camera:
        camera.connect()
        for stamp in range(1, 21):
            camera.show(large, stamp)
            camera.features_of(stamp)
        assert int(camera.report()["images received"]) == 20


def test_small_images_of_best_effort_cameras(node_here, picture):
    node_here("cnn_features", **QUICK)
    picture = picture[:100, :100]  # travels in one piece
    with CameraProbe(ReliabilityPolicy.BEST_EFFORT) as camera:
        camera.connect()
        camera.show(picture, 10)
        camera.features_of(10)
        with CameraProbe() as other:  # reliable beside best-effort: both are heard
            other.connect()
            other.show(picture, 20)
            other.features_of(20)
            camera.show(picture, 30)
            camera.features_of(30)


def test_an_image_that_comes_raw_and_compressed_is_worked_on_once(node_here, picture):
    node_here("cnn_features", **QUICK)
    with CameraProbe() as camera:
        camera.connect()
        for stamp in range(1, 6):
            camera.show(picture, stamp * SECOND)
            camera.show_compressed(jpeg(picture), stamp * SECOND)
            camera.features_of(stamp * SECOND)
        camera.report(lambda values: values["came both raw and compressed"] == "5", "of five repeated images")
        assert len(camera.features) == 5
        for count, show in enumerate((camera.show, camera.show_compressed) * 2, 6):  # without stamps nobody can tell
            show(picture if show == camera.show else jpeg(picture), 0)
            camera.until(lambda count=count: len(camera.features) == count, f"features {count}")


def test_lifecycle(node_here, picture):
    node = node_here("cnn_features", autostart=False, **QUICK)
    with CameraProbe() as camera:
        assert camera.change(Transition.TRANSITION_CONFIGURE)
        camera.connect()
        camera.show(picture, 1)
        camera.report(lambda values: values["messages received"] == "1", "of one message")
        assert camera.diagnostics["images received"] == "0"
        assert camera.message == "inactive"
        assert not camera.features
        for stamp in (2, 4):
            assert camera.change(Transition.TRANSITION_ACTIVATE)
            camera.show(picture, stamp)
            camera.features_of(stamp)
            assert camera.change(Transition.TRANSITION_DEACTIVATE)
            camera.show(picture, stamp + 1)
            received = str(stamp + 1)
            camera.report(lambda values, n=received: values["messages received"] == n, f"of message {received}")
        assert len(camera.features) == 2
        assert camera.change(Transition.TRANSITION_ACTIVATE)
        camera.report(lambda _: camera.message != "inactive", "after activation")
        camera.report()
        assert (camera.level, camera.message) == (DiagnosticStatus.STALE, "no images arrive")
        assert camera.change(Transition.TRANSITION_DEACTIVATE)
        assert camera.change(Transition.TRANSITION_CLEANUP)
        assert camera.change(Transition.TRANSITION_CONFIGURE)
        assert camera.change(Transition.TRANSITION_ACTIVATE)
        camera.connect()
        camera.show(picture, 6)
        camera.features_of(6)
        assert camera.change(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert node.wait() == 0


def test_another_layer_of_another_topic(node_here, features, picture):
    remap = ["image:=/eye/left", "image/compressed:=/eye/left/compressed"]
    node_here("cnn_features", remap, output="logits", crop=0.5, mean=[127.0] * 3, **QUICK)
    expected = CNNFeatures(output="logits", crop=0.5)
    with CameraProbe(topic="/eye/left") as camera:
        camera.connect()
        camera.show(picture, 1)
        np.testing.assert_allclose(camera.features_of(1), expected.transform(picture), atol=1e-4)
        assert camera.features[0].source == expected.source != features.source
        camera.show(np.tile(picture, (4, 4, 1)), 2)  # larger than best-effort images can be
        camera.features_of(2)


def test_the_newest_item_is_always_worked_on():
    done, begun, go = [], threading.Event(), threading.Event()

    def work(item):
        begun.set()
        assert go.wait(10.0)
        done.append(item)

    worker = NewestWorker(work)
    worker.put(0)
    assert begun.wait(10.0)
    for item in range(1, 10):
        worker.put(item)
    go.set()
    while len(done) < 2:
        time.sleep(0.001)
    worker.stop()
    assert done == [0, 9]
    assert worker.dropped == 8
