"""The picture of a load and a push: what it shows as learned."""

import numpy as np

from icub_learning.cli.demo.changes import LONGEST_BLOCK, share_learned


def test_blocks_of_any_size_are_a_steady_share_and_a_pause_is_none():
    arrived = np.arange(1000)
    blocks = 14 * (arrived // 14)  # every sample, fourteen at a time
    np.testing.assert_allclose(share_learned(blocks)[:980], 1.0)
    np.testing.assert_allclose(share_learned(blocks // 2)[:980], 0.5)
    paused = np.where(arrived < 420, blocks, np.where(arrived < 800, 420, blocks - 378))  # from 420 to 800 nothing
    share = share_learned(paused)
    np.testing.assert_allclose(share[:420], 1.0)
    np.testing.assert_array_equal(share[420 : 800 - LONGEST_BLOCK], 0.0)
    assert share[815:980].mean() == 1.0
