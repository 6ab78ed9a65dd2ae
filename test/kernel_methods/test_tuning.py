"""Errors over a grid: each point is a batch fit, and nothing later is seen by what is earlier."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icub_learning.errors import IcubLearningError, ParameterError
from icub_learning.kernel_methods import NystromKRLS
from icub_learning.kernel_methods.tuning import Fold, Grid, PathExplorer, forward_folds


def make_fold(n=80, k=30, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + k, 3))
    y = np.column_stack([np.sin(x[:, 0]), x[:, 1] * x[:, 2]]) + 0.1 * rng.normal(size=(n + k, 2))
    return Fold(x[:n], y[:n], x[n:], y[n:])


def mean_square(predicted, fold):
    errors = np.mean((predicted - fold.later_targets) ** 2, axis=(1, 2))
    return errors, errors


def surface_of(grid, folds):
    explorer = PathExplorer(grid, folds, mean_square, 3)
    cells = explorer.cells()
    assert len({cell.key for cell in cells}) == len(cells)
    return explorer.surface({cell.key: explorer.measure(cell) for cell in cells})


GRID = Grid((0.7, 2.0), (0.01, 0.04, 0.3), (10, 20, 40))


def test_each_point_of_the_surface_is_a_batch_fit():
    folds = [make_fold(), make_fold(seed=1)]
    surface = surface_of(GRID, folds)
    np.testing.assert_allclose(surface.errors, surface.fold_errors.mean(axis=0))
    for place in np.ndindex(surface.fold_errors.shape):
        fold, point = folds[place[0]], surface.at(*place[1:])
        model = NystromKRLS(
            length_scale=point.length_scale, regularization=point.regularization / 80, n_centers=40, random_state=3
        ).fit(fold.inputs, fold.targets)
        fewer = NystromKRLS(
            length_scale=point.length_scale,
            regularization=point.regularization / 80,
            centers=model.centers_[: point.size],
        )
        expected = np.mean((fewer.fit(fold.inputs, fold.targets).predict(fold.later_inputs) - fold.later_targets) ** 2)
        assert surface.fold_errors[place] == pytest.approx(expected, rel=1e-6)


@given(st.integers(8, 500), st.integers(1, 6), st.integers(0, 20))
def test_folds_go_forward_and_keep_their_gap(n, n_folds, gap):
    try:
        folds = forward_folds(n, n_folds, gap)
    except ParameterError:
        assert (n - n // 2) // n_folds <= gap or n // 2 < 1 or n < 2 * n_folds
        return
    assert len(folds) == n_folds
    for learned, later in folds:
        assert learned.start == 0 and learned.stop >= n // 2
        assert later.start == learned.stop + gap and learned.stop < later.stop <= n
    assert folds[-1][1].stop == n
    assert all(one[1].stop == other[0].stop for one, other in pairwise(folds))


@pytest.mark.parametrize(
    "bad",
    [{"length_scales": ()}, {"length_scales": (0.0,)}, {"regularizations": (1.0, 1.0)}, {"sizes": (2.5,)},
     {"regularizations": (np.nan,)}, {"sizes": (0, 2)}],
)  # fmt: skip
def test_a_bad_grid_is_refused(bad):
    with pytest.raises(IcubLearningError, match=next(iter(bad))):
        Grid(**{"length_scales": (1.0,), "regularizations": (1.0,), "sizes": (2,), **bad})
