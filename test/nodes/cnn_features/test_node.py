"""The CNN features node as its users meet it: real messages, images of all kinds, and what is no image."""

import io

import numpy as np
import pytest
from helpers.camera_probe import CameraProbe
from PIL import Image
from rclpy.qos import ReliabilityPolicy

from icub_learning.recognition import CNNFeatures

QUICK = {"report_period": 0.05}
SECOND = 10**9  # [ns]


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


def test_features_of_raw_and_compressed_images(started, features, picture):
    big = np.stack([picture, np.zeros_like(picture)], axis=-1)
    with started(CameraProbe(), **QUICK) as camera:
        for stamp, shown, encoding in ((1, picture[:, :, ::-1], "bgr8"), (SECOND + 1, big, "rgb16")):
            camera.show(shown, stamp, encoding, is_bigendian=1)
            np.testing.assert_allclose(camera.features_of(stamp), features.transform(picture), atol=1e-5)
        camera.show_compressed(jpeg(picture), 6 * SECOND, "rgb8; jpeg compressed bgr8")
        unpacked = np.asarray(Image.open(io.BytesIO(jpeg(picture))))
        found, near = camera.features_of(6 * SECOND), features.transform(unpacked)
        assert found @ near / np.linalg.norm(found) / np.linalg.norm(near) > 0.999
        last = camera.features[-1]
        assert last.source == features.source and (last.header.stamp.sec, last.header.stamp.nanosec) == (6, 0)
        assert camera.report()["refused"] == "0" and camera.diagnostics["source"] == features.source


def test_what_is_no_image_is_refused_with_a_reason_and_the_next_one_is_not(started, features, picture):
    with started(CameraProbe(), **QUICK) as camera:
        camera.show(picture, SECOND, step=961)
        camera.report(lambda values: values.get("refused: image_data_length") == "1", "of a raw image")
        camera.show_compressed(b"no picture", 2 * SECOND)
        camera.report(lambda values: values.get("refused: image_compressed") == "1", "of a compressed one")
        assert camera.diagnostics["refused"] == "2"
        assert camera.diagnostics["last refusal"].startswith("image_compressed: ")
        camera.show(picture, 100 * SECOND)
        np.testing.assert_allclose(camera.features_of(100 * SECOND), features.transform(picture), atol=1e-5)
        assert len(camera.features) == 1


def test_images_that_come_faster_than_they_can_be_worked_on_are_dropped_for_newer_ones(started, picture):
    with started(CameraProbe(), **QUICK) as camera:
        for stamp in range(1, 301):
            camera.show(picture[:100, :100], stamp)
            if stamp % 3 == 0:  # at least two images wait while a third is worked on
                camera.spin(0.001)
        camera.features_of(300)  # the newest is never dropped
        stamps = [entry.header.stamp.nanosec for entry in camera.features]
        assert stamps == sorted(set(stamps))
        report = camera.report()
        assert int(report["dropped for a newer image"]) > 0
        assert int(report["images received"]) == len(stamps) + int(report["dropped for a newer image"])


def test_small_images_of_best_effort_cameras(started, picture):
    picture = picture[:100, :100]  # small enough to travel in one piece
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
        for count, show in enumerate((camera.show, camera.show_compressed) * 2, 6):  # no stamps: they count as two
            show(picture if show == camera.show else jpeg(picture), 0)
            camera.until(lambda count=count: len(camera.features) == count, f"features {count}")


def test_another_layer_of_another_topic(started, features, picture):
    remap = ["image:=/eye/left", "image/compressed:=/eye/left/compressed"]
    settings = {"output": "logits", "crop": 0.5, "mean": [120.0] * 3} | QUICK
    expected = CNNFeatures(output="logits", crop=0.5, mean=120.0)
    with started(CameraProbe(topic="/eye/left"), remap, **settings) as camera:
        camera.show(picture, 1)
        np.testing.assert_allclose(camera.features_of(1), expected.transform(picture), atol=1e-4)
        assert camera.features[0].source == expected.source != features.source
        camera.show(np.tile(picture, (4, 4, 1)), 2)  # larger than best-effort images can be
        camera.features_of(2)
