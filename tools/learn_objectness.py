"""Learn what tells an object from its background on simulated tables, and write icub_learning/detection/objectness.npz.

Boxes are used without names. Half of the objects of the set-up are used, so that the others can judge the proposals.
Takes about five minutes: python tools/learn_objectness.py
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from tqdm import tqdm

from icub_learning.detection.backbone import Backbone
from icub_learning.detection.boxes import offsets, overlaps
from icub_learning.detection.proposals import N_ANCHORS, N_CELL_FEATURES, WEIGHTS, anchors, cell_features, propose
from icub_learning.detection.regions import BASIS, N_FEATURES, pooled
from icub_learning.simulation.objects.catalogue import KNOWN
from icub_learning.simulation.objects.table_scene import TableScene

LEARNED = tuple(sorted(KNOWN))[::2]
SEED = 9137
MIN_OVERLAP = 0.5  # smallest intersection over union with an object for an anchor to count as one
POSITIVE_SHARE = 0.25  # share of objects in the total weight of an anchor's samples
BASIS_SCENES = 60
REGULARIZATION = 3e-3  # relative to the mean square of a cell's features


def main() -> None:
    """Render, sum, solve, write, and print the recall on objects that were not used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=500)
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    args = parser.parse_args()
    backbone, size = Backbone(2), N_CELL_FEATURES
    everything, total = np.zeros((size, size)), np.zeros(size)
    near, moment = np.zeros((N_ANCHORS, size, size)), np.zeros((N_ANCHORS, size))
    steps, counts, n_cells = np.zeros((N_ANCHORS, size, 4)), np.zeros(N_ANCHORS), 0
    rng = np.random.default_rng(SEED)
    with TableScene(LEARNED, seed=SEED) as scene:
        for number in tqdm(range(args.scenes), disable=None):
            found = scene.render(number)
            image, truth = zoomed(rng, found.image, found.boxes)
            if not len(truth):
                continue
            maps = backbone.maps(image)
            cells, boxes = cell_features(maps).astype(float), anchors(maps)
            shares = overlaps(boxes, truth)
            own, share = shares.argmax(axis=1), shares.max(axis=1)
            everything += cells.T @ cells
            total += cells.sum(axis=0)
            n_cells += len(cells)
            for anchor in range(N_ANCHORS):
                places = np.arange(len(cells)) * N_ANCHORS + anchor
                hit = np.flatnonzero(share[places] >= MIN_OVERLAP)
                z = cells[hit]
                near[anchor] += z.T @ z
                moment[anchor] += z.sum(axis=0)
                counts[anchor] += len(hit)
                targets = offsets(boxes[places[hit]], truth[own[places[hit]]])
                steps[anchor] += z.T @ targets
    ridge = REGULARIZATION * np.trace(everything) / n_cells / size * np.eye(size)
    scores, moves = np.zeros((size, N_ANCHORS)), np.zeros((N_ANCHORS, 4, size))
    pooled, pooled_steps = near.sum(axis=0), steps.sum(axis=0)
    for anchor in range(N_ANCHORS):
        if counts[anchor] < 20:  # too few to learn from: such boxes are not proposed
            scores[-1, anchor] = -2.0
            continue
        positive, negative = POSITIVE_SHARE / counts[anchor], (1.0 - POSITIVE_SHARE) / n_cells
        gram = positive * near[anchor] + negative * everything + ridge
        scores[:, anchor] = cho_solve(cho_factor(gram), positive * moment[anchor] - negative * total)
        # Offsets of anchors with few samples lean on those of all.
        lean = 0.1
        gram = near[anchor] + lean * pooled + counts[anchor] * ridge * 10.0
        moves[anchor] = cho_solve(cho_factor(gram), steps[anchor] + lean * pooled_steps).T
    np.savez_compressed(args.output, scores=scores.astype(np.float16), offsets=moves.astype(np.float16))
    learn_basis(backbone, args.output.with_name(BASIS.name))
    print(f"{args.output}: {args.output.stat().st_size} bytes; boxes for each anchor: {counts.astype(int).tolist()}")
    print_recall(backbone)


def zoomed(
    rng: np.random.Generator, image: NDArray[np.uint8], boxes: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return an image and its boxes, or with probability 1/2 a random part with the boxes that are mostly in it."""
    if rng.uniform() < 0.5:
        return image, boxes
    height, width = image.shape[:2]
    share = rng.uniform(0.25, 0.9)
    w, h = int(share * width), int(share * height)
    left, top = int(rng.integers(width - w + 1)), int(rng.integers(height - h + 1))
    cut = np.clip(boxes - [left, top, left, top], 0, [w, h, w, h])
    area, kept = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1), (cut[:, 2:] - cut[:, :2]).prod(axis=1)
    return np.ascontiguousarray(image[top : top + h, left : left + w]), cut[kept > 0.6 * area]


def learn_basis(backbone: Backbone, output: Path) -> None:
    """Write the principal directions of regions that are proposed on tables."""
    with TableScene(LEARNED, seed=SEED + 2) as scene:
        regions = []
        for number in range(BASIS_SCENES):
            maps = backbone.maps(scene.render(number).image)
            regions.append(pooled(maps, propose(maps, 100)))
    found = np.concatenate(regions).astype(float)
    mean = found.mean(axis=0)
    values, vectors = np.linalg.eigh((found - mean).T @ (found - mean))
    print(f"share of the variance of regions that is kept: {values[-N_FEATURES:].sum() / values.sum():.3f}")
    basis = vectors[:, ::-1][:, :N_FEATURES]
    np.savez_compressed(output, mean=mean.astype(np.float16), basis=basis.astype(np.float16))


def print_recall(backbone: Backbone) -> None:
    """Print the share of boxes of other objects that proposals find."""
    others = [name for name in sorted(KNOWN) if name not in LEARNED]
    best = []
    with TableScene(others, seed=SEED + 1) as scene:
        for number in range(40):
            found = scene.render(number)
            shares = overlaps(found.boxes, propose(backbone.maps(found.image), 300))
            best += [(row[:100].max(), row.max()) for row in shares]
    for threshold in (0.5, 0.6, 0.7):
        hit = (np.array(best) >= threshold).mean(axis=0)
        print(f"recall at IoU {threshold}: {hit[0]:.3f} with 100 boxes, {hit[1]:.3f} with 300 (n = {len(best)})")


if __name__ == "__main__":
    main()
