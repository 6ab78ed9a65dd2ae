"""The CNN features node as its users meet it: another process, real images of all kinds, and what is no image."""

import io
from collections import Counter
from functools import partial

import numpy as np
import pytest
from helpers.camera_probe import CameraProbe
from PIL import Image
from rclpy.qos import ReliabilityPolicy

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


def test_features_of_images_of_many_kinds(started, features, picture):
    padded = np.pad(picture.reshape(240, -1), ((0, 0), (0, 7)), constant_values=255)
    big = np.stack([picture, np.zeros_like(picture)], axis=-1)
    opaque = np.dstack([picture, np.full((240, 320), 255, np.uint8)])
    grey = np.repeat(picture[:, :, 1:2], 3, axis=2)
    with started(CameraProbe(), **QUICK) as camera:
        for stamp, (shown, encoding, fields, same) in enumerate(
            (
                (picture, "rgb8", {}, picture), (picture[:, :, ::-1], "bgr8", {}, picture),
                (padded, "rgb8", {"width": 320}, picture), (big, "rgb16", {"is_bigendian": 1}, picture),
                (opaque[:, :, [2, 1, 0, 3]], "bgra8", {}, picture), (picture[:, :, 1], "mono8", {}, grey),
            )
        ):  # fmt: skip
            camera.show(shown, stamp * SECOND + 1, encoding, **fields)
            np.testing.assert_allclose(camera.features_of(stamp * SECOND + 1), features.transform(same), atol=1e-5)
        camera.show_compressed(jpeg(picture), 6 * SECOND, "rgb8; jpeg compressed bgr8")
        unpacked = np.asarray(Image.open(io.BytesIO(jpeg(picture))))
        found, near = camera.features_of(6 * SECOND), features.transform(unpacked)
        assert found @ near / np.linalg.norm(found) / np.linalg.norm(near) > 0.999
        last = camera.features[-1]
        assert last.source == features.source
        assert (last.header.stamp.sec, last.header.stamp.nanosec) == (6, 0)
        assert camera.report()["refused"] == "0"
        assert camera.diagnostics["source"] == features.source


def test_what_is_no_image_is_refused_with_a_reason_and_the_next_one_is_not(started, features, picture):
    raw = [
        ("image_empty", {"height": 0}), ("image_empty", {"width": 0}), ("encoding_unknown", {"encoding": "rgb7"}),
        ("encoding_unknown", {"encoding": ""}), ("encoding_without_color", {"encoding": "32FC1"}),
        ("image_step", {"step": 959}), ("image_step", {"step": 0}), ("image_data_length", {"step": 961}),
        ("image_data_length", {"data": []}), ("image_data_length", {"height": 2**32 - 1}),
    ]  # fmt: skip
    compressed = [("image_empty", b""), ("image_compressed", jpeg(picture)[:4000]), ("image_compressed", b"no picture")]
    counts: Counter[str] = Counter()
    with started(CameraProbe(), **QUICK) as camera:
        bad = [(reason, partial(camera.show, picture, **fields)) for reason, fields in raw]
        bad += [(reason, partial(camera.show_compressed, data)) for reason, data in compressed]
        for index, (reason, show) in enumerate(bad, 1):
            counts[reason] += 1
            show(stamp=SECOND * index)
            wanted = f"refused: {reason}", str(counts[reason])
            camera.report(lambda values, wanted=wanted: wanted in values.items(), f"of {wanted}")
        assert camera.diagnostics["refused"] == str(len(bad))
        assert camera.diagnostics["last refusal"]
        camera.show(picture, 100 * SECOND)
        np.testing.assert_allclose(camera.features_of(100 * SECOND), features.transform(picture), atol=1e-5)
        assert len(camera.features) == 1


def test_images_that_come_faster_than_they_can_be_worked_on_are_dropped_for_newer_ones(started, picture):
    with started(CameraProbe(), **QUICK) as camera:
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


def test_small_images_of_best_effort_cameras(started, picture):
    picture = picture[:100, :100]  # travels in one piece
    with started(CameraProbe(ReliabilityPolicy.BEST_EFFORT), **QUICK) as camera:
        camera.show(picture, 10)
        camera.features_of(10)
        with CameraProbe() as other:  # reliable beside best-effort: both are heard
            other.connect()
            other.show(picture, 20)
            other.features_of(20)
            camera.show(picture, 30)
            camera.features_of(30)


def test_an_image_that_comes_raw_and_compressed_is_worked_on_once(started, picture):
    with started(CameraProbe(), **QUICK) as camera:
        for stamp in range(1, 6):
            camera.show(picture, stamp * SECOND)
            camera.show_compressed(jpeg(picture), stamp * SECOND)
            camera.features_of(stamp * SECOND)
        camera.report(lambda values: values["came both raw and compressed"] == "5", "of five repeated images")
        assert len(camera.features) == 5
        for count, show in enumerate((camera.show, camera.show_compressed) * 2, 6):  # without stamps nobody can tell
            show(picture if show == camera.show else jpeg(picture), 0)
            camera.until(lambda count=count: len(camera.features) == count, f"features {count}")


def test_another_layer_of_another_topic(started, features, picture):
    remap = ["image:=/eye/left", "image/compressed:=/eye/left/compressed"]
    settings = {"output": "logits", "crop": 0.5, "mean": [127.0] * 3} | QUICK
    expected = CNNFeatures(output="logits", crop=0.5)
    with started(CameraProbe(topic="/eye/left"), remap, **settings) as camera:
        camera.show(picture, 1)
        np.testing.assert_allclose(camera.features_of(1), expected.transform(picture), atol=1e-4)
        assert camera.features[0].source == expected.source != features.source
        camera.show(np.tile(picture, (4, 4, 1)), 2)  # larger than best-effort images can be
        camera.features_of(2)
