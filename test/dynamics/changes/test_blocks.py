"""Blocks against means of the same errors by NumPy."""

import numpy as np

from icub_learning.dynamics.changes.blocks import Blocks
from icub_learning.dynamics.motion.motion import Motion

STEP = 2_000_000  # [ns]: five samples in a block
N, M = 5, 3


def motion(k):
    """Return sample k of two joints at constant speeds; the acceleration that it states rises all the same."""
    time, speed = k * STEP * 1e-9, np.array([2.0, -3.0])
    return Motion(1 + round(k * STEP), 1.0 + speed * time, speed, np.full(2, float(k)))


def blocks_of(errors, is_strange=lambda error, fewer: False):
    """Return the number of the last sample, `fewer`, means and mean motion of each block that ended."""
    blocks, ended = Blocks(M), []
    for k, error in enumerate(errors):
        block = blocks.means(motion(k), error, np.full(M, float(k)), is_strange)
        if block is not None:
            ended.append((k, blocks.fewer, block[1], block[0]))
    return ended


def test_a_block_has_the_means_of_its_samples():
    errors = np.random.default_rng(0).standard_normal((20, M))
    ended = blocks_of(errors)
    assert [k for k, *_ in ended] == [4, 9, 14, 19]
    for (k, fewer, means, moved), own in zip(ended, errors.reshape(4, N, M), strict=True):
        assert fewer == 1.0
        np.testing.assert_allclose(means[:2], [own.mean(axis=0), np.full(M, k - 2.0)], rtol=1e-12)
        assert moved.stamp == motion(k).stamp
        np.testing.assert_allclose(moved[1:], motion(k - 2)[1:], rtol=1e-12)


def test_scatter_tells_by_how_much_means_of_fewer_samples_vary_more():
    """White errors are added to an error that a block shares: the excess variance is (N / n - 1) times the scatter."""
    rng, deviations = np.random.default_rng(1), np.array([0.1, 1.0, 5.0])
    errors = rng.standard_normal((3000, 1, M)) + deviations * rng.standard_normal((3000, N, M))
    scatter = np.mean([means[2] for _, _, means, _ in blocks_of(errors.reshape(-1, M))], axis=0)
    for n in range(1, N):
        apart = (errors[:, :n].mean(axis=1) - errors.mean(axis=1)).var(axis=0)
        np.testing.assert_allclose((N / n - 1.0) * scatter, deviations**2 * (1.0 / n - 1.0 / N), rtol=0.05)
        np.testing.assert_allclose((N / n - 1.0) * scatter, apart, rtol=0.1)


def test_a_block_ends_early_where_its_mean_so_far_is_strange():
    errors = np.zeros((20, M))
    errors[11:], asked = 9.0, []

    def is_strange(error, fewer):
        asked.append(fewer)
        return error[0] > 4.0

    ended = blocks_of(errors, is_strange)
    assert [(k, fewer) for k, fewer, *_ in ended] == [(4, 1), (9, 1), (11, N / 2), *((k, N) for k in range(12, 20))]
    np.testing.assert_array_equal(ended[2][2][0], np.full(M, 4.5))
    assert asked[:4] == [1.0] * 4 and asked[4:8] == [N / n for n in range(1, N)]  # no usual size before the first
