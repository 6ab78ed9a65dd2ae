"""From a camera to the names of objects over two nodes: every image is answered, each one of a lesson learned."""

import numpy as np
import pytest
from helpers.camera_probe import CameraProbe
from helpers.painted_scenes import COLOURS, scene
from helpers.recognition_probe import RecognitionProbe

from icub_learning_msgs.srv import ListObjects

pytestmark = pytest.mark.ros
LESSON, SHOWN = 12, 5  # images


def test_objects_are_taught_and_named_from_images(start_node):
    for name in ("cnn_features", "object_recognition"):
        start_node(name, report_period=0.05)
    rng, stamps = np.random.default_rng(0), []
    with CameraProbe() as camera, RecognitionProbe() as probe:
        camera.connect()
        probe.connect()

        def show(name, count):
            """Show images of a thing, each after the recognition of the one before; return the last recognition."""
            for _ in range(count):
                stamps.append(len(stamps) + 1)
                camera.show(scene(rng, [name])[0], stamps[-1])
                probe.until(lambda: len(probe.recognitions) == len(stamps), f"the recognition of image {stamps[-1]}")
            return probe.recognitions[-1]

        for name in COLOURS:
            lesson = probe.begin_lesson(name, LESSON, timeout=200.0)
            show(name, LESSON)
            assert probe.answer(lesson).success
        known = probe.call(ListObjects, "list_objects")
        assert dict(zip(known.labels, known.counts, strict=True)) == dict.fromkeys(COLOURS, LESSON)
        assert [show(name, SHOWN).nearest for name in COLOURS] == list(COLOURS)
        assert [seen.header.frame_id for seen in probe.recognitions] == [f"eye_{stamp}" for stamp in stamps]
