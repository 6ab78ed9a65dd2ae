"""Average precision against brute force over thresholds."""

import numpy as np
import pytest

from icub_learning.detection.boxes import Detections, overlaps
from icub_learning.evaluation.detections import average_precisions


def brute_force(found, truth, label):
    """Return the average precision by its definition: precision and recall above each threshold, image by image."""
    points, n_true = [], sum(name == label for one in truth for name in one.labels)
    for level in {score for one in found for score in one.scores.tolist()}:
        right = total = 0
        for one, true in zip(found, truth, strict=True):
            rest = [box for box, name in zip(true.boxes, true.labels, strict=True) if name == label]
            taken = [False] * len(rest)
            for k in np.argsort(-one.scores):
                if one.labels[k] != label or one.scores[k] < level:
                    continue
                total += 1
                shares = [overlaps(one.boxes[[k]], box[None])[0, 0] for box in rest]
                if shares and max(shares) >= 0.5 and not taken[int(np.argmax(shares))]:
                    taken[int(np.argmax(shares))] = True
                    right += 1
        if total:
            points.append((right / n_true, right / total))
    return np.mean([max((p for r, p in points if r >= t - 1e-12), default=0.0) for t in np.linspace(0, 1, 11)])


def test_beside_brute_force():
    rng = np.random.default_rng(0)
    truth, found = [], []
    for _ in range(10):  # 20 boxes of each label, so that some recalls are exactly at the 11 levels
        corner = rng.integers(0, 60, (4, 2)).astype(float)
        boxes = np.concatenate([corner, corner + rng.integers(10, 25, (4, 2))], axis=1)
        truth.append(Detections(boxes, list("aabb")))
        noisy = np.concatenate([boxes + rng.normal(0, 2, (4, 4)), boxes[::-1] + rng.normal(0, 6, (4, 4))])
        found.append(Detections(noisy, rng.choice(["a", "b"], 8).tolist(), rng.permutation(1000)[:8] / 1000.0))
    precisions = average_precisions(found, truth, ["a", "b", "c"])
    assert all(precisions[label] == pytest.approx(brute_force(found, truth, label)) for label in ("a", "b"))
    assert np.isnan(precisions["c"])
