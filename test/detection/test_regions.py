"""Region features against interpolation point by point; proposals on maps with an object."""

import itertools

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from icub_learning.detection.backbone import Backbone, fixed_arrays
from icub_learning.detection.boxes import overlaps
from icub_learning.detection.proposals import N_ANCHORS, anchors, cell_features, propose
from icub_learning.detection.regions import N_FEATURES, N_POOLED, SAMPLES, align, pooled, region_features
from icub_learning.errors import ModelError, ShapeError


def test_pooling_is_bilinear_interpolation_averaged_over_bins():
    values = np.random.default_rng(1).normal(size=(9, 12, 3)).astype(np.float32)
    boxes = np.array([[2.0, 1.5, 7.3, 6.1], [0.0, 0.0, 12.0, 9.0]])
    for box, means in zip(boxes, align(values, boxes, 2).reshape(2, 2, 2, 3), strict=True):
        steps = (np.arange(2 * SAMPLES) + 0.5) / (2 * SAMPLES)
        x = np.clip(box[0] + steps * (box[2] - box[0]) - 0.5, 0, 11)
        at = np.stack(np.meshgrid(np.clip(box[1] + steps * (box[3] - box[1]) - 0.5, 0, 8), x, indexing="ij"))
        for channel in range(3):
            points = map_coordinates(values[:, :, channel].astype(float), at, order=1)
            expected = points.reshape(2, SAMPLES, 2, SAMPLES).mean(axis=(1, 3))
            np.testing.assert_allclose(means[:, :, channel], expected, atol=1e-5)


def test_maps_of_any_size_and_what_comes_of_them():
    image = np.full((240, 320, 3), 120) + np.random.default_rng(0).integers(-8, 9, (240, 320, 3))  # a noisy table
    y, x = np.mgrid[:240, :320]
    disc, box, backbone = (x - 200) ** 2 + (y - 130) ** 2 < 35**2, np.array([165.0, 95.0, 236.0, 166.0]), Backbone()
    image[disc] = np.where((x // 9 % 2 == 0)[disc][:, None], [220, 40, 30], [240, 220, 60])
    maps = backbone.maps(image := image.astype(np.uint8))
    assert [maps.maps[side].shape for side in (8, 16, 32)] == [(40, 56, 40), (20, 28, 112), (10, 14, 320)]
    np.testing.assert_allclose(maps.scale, [448 / 320, 320 / 240])
    assert backbone.source == "efficientnet_lite0/_blocks.4.sum,_blocks.10.sum,_blocks.15._project_conv.out@448"
    cells, (fine, middle, coarse) = cell_features(maps).reshape(20, 28, -1), maps.maps.values()
    around = fine[6, 10], fine[6, 11], fine[7, 10], fine[7, 11], middle[3, 5], coarse[1, 2], [1.0]
    np.testing.assert_array_equal(cells[3, 5], np.concatenate(around))
    placed = (anchors(maps) * np.tile(maps.scale, 2)).reshape(20, 28, N_ANCHORS, 4)
    size, centre = placed[..., 2:] - placed[..., :2], (placed[..., 2:] + placed[..., :2]) / 2
    y, x = np.mgrid[:20, :28]
    np.testing.assert_allclose(centre - 16 * np.stack([x, y], axis=2)[:, :, None], 8.0)
    kinds = [(np.sqrt(width * height), height / width) for width, height in size[0, 0]]
    np.testing.assert_allclose(kinds, list(itertools.product((36, 51, 72, 102, 144, 204, 288), (0.5, 1.0, 2.0))))
    proposals = propose(maps, 100)
    assert len(proposals) <= 100 and (proposals[:, 2:] - proposals[:, :2]).min() >= 4.0
    np.testing.assert_array_equal(propose(maps, 10), proposals[:10])  # the best come first
    assert 0.5 < np.triu(overlaps(proposals, proposals), 1).max() <= 0.7 + 1e-9  # of two that are alike one is left
    assert proposals.min() >= 0 and (proposals.max(axis=0)[2:] <= [320, 240]).all()
    assert overlaps(proposals, box[None]).max() > 0.6  # an object that was not in the training data
    assert pooled(maps, proposals).shape == (len(proposals), N_POOLED)
    features = region_features(maps, proposals)
    assert features.shape == (len(proposals), N_FEATURES) and 10.0 < np.linalg.norm(features, axis=1).mean() < 30.0
    for height, width, rows in ((100, 320, 8), (32, 960, 2)):  # to the nearest multiple of 32 px, or to 32 px
        found = backbone.maps(np.zeros((height, width, 3), np.uint8))
        assert found.maps[16].shape[:2] == (rows, 28) and found.scale.tolist() == [448 / width, 16 * rows / height]
    with pytest.raises(ShapeError, match="each side at least 32 px"):
        backbone.maps(image[:31])


@pytest.mark.parametrize("wrong", ["mean", "basis"])
def test_fixed_weights_of_other_sizes_are_refused(wrong, tmp_path):
    arrays = {"mean": np.zeros(N_POOLED), "basis": np.zeros((N_POOLED, N_FEATURES))}
    np.savez(tmp_path / "regions.npz", **arrays | {wrong: arrays[wrong][1:]})
    with pytest.raises(ModelError, match="other sizes"):
        fixed_arrays(tmp_path / "regions.npz", **{name: array.shape for name, array in arrays.items()})
    with pytest.raises(ModelError, match="cannot read"):
        fixed_arrays(tmp_path / "none.npz", mean=(3,))
