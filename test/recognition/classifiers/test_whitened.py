"""The machine on whitened directions against its definition in full matrices."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from icub_learning.recognition.classifiers import whitened
from icub_learning.recognition.classifiers.kept_views import rounded, unit
from icub_learning.recognition.classifiers.whitened import LENGTH_SCALE, Machine, Portion, Statistics

D = 14
ATOL = 2e-5  # single precision


def draw(counts, seed=0, d=D):
    rng = np.random.default_rng(seed)
    rows = np.repeat(rng.normal(size=(len(counts), d)), counts, axis=0) + 0.4 * rng.normal(size=(sum(counts), d))
    return np.array([rounded(row) for row in rows]), np.repeat(np.arange(len(counts)), counts)


def kernel(a, b):
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / (2 * LENGTH_SCALE**2))


def by_definition(rows, targets, kept, x, shrinkage):
    """Return scores by kept views, by means and under the mixed kernel, with C^(-1/2) of all views as a matrix."""
    n_classes = targets.max() + 1
    means = np.array([rows[targets == index].mean(axis=0) for index in range(n_classes)])
    scatter = sum(scatter_of(rows[targets == index]) for index in range(n_classes))
    shrunk = (1 - shrinkage) * scatter + shrinkage * np.trace(scatter) / rows.shape[1] * np.eye(rows.shape[1])
    root, center = np.real(np.linalg.inv(sqrtm(shrunk))), means.mean(axis=0)
    wx, wk, wm = (unit((part - center) @ root) for part in (x, rows[kept], means))
    wm = wm * allowances(rows, targets, kept, shrunk, shrinkage, (means - center) @ root)[:, None]
    indicators = np.eye(n_classes)[targets[kept]]

    def ridge(k):
        return np.linalg.solve(k + whitened.REGULARIZATION * np.eye(len(k)), indicators)

    def mixed(white, other_white, plain, other_plain):
        squares = ((plain[:, None] - other_plain[None]) ** 2).sum(axis=2)
        return np.sqrt(kernel(white, other_white) * np.exp(-squares / (2 * LENGTH_SCALE**2)))

    to_white_means = np.exp((np.minimum(wx @ wm.T, 1.0) - 1.0) / LENGTH_SCALE**2)
    views = kernel(wx, wk) @ ridge(kernel(wk, wk))
    inside = mixed(wx, wk, unit(x), rows[kept]) @ ridge(mixed(wk, wk, rows[kept], rows[kept]))
    return views, to_white_means, inside + whitened.MIXED_MEANS * to_white_means


def allowances(rows, targets, kept, shrunk, shrinkage, white_means):
    """Return factors for the means; leaving each kept view out of mean and scatter gives the variance of a view."""
    counts, found = np.bincount(targets), []
    for place in np.flatnonzero(kept & (counts[targets] > 1)):
        own = targets == targets[place]
        others = rows[own & (np.arange(len(rows)) != place)]
        without = shrunk - (1 - shrinkage) * (scatter_of(rows[own]) - scatter_of(others))
        difference = rows[place] - others.mean(axis=0)
        found.append(difference @ np.linalg.solve(without, difference) / (1 + 1 / len(others)))
    squares, variance = (white_means**2).sum(axis=1), np.mean(found)
    length = max(np.mean(squares - variance / counts), 0.05 * np.mean(squares))
    return np.sqrt((length + variance / counts) / (length + variance / counts.max()))


def scatter_of(rows):
    return (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))


def statistics(rows, targets, kept):
    sums = np.array([rows[targets == index].sum(axis=0) for index in range(targets.max() + 1)])
    second = None if kept.all() else np.triu(rows.T @ rows)
    return Statistics(rows[kept], targets[kept], sums, np.bincount(targets), second)


@pytest.mark.parametrize(
    ("counts", "share"), [([5, 6, 4], 1.0), ([2, 5], 1.0), ([3, 2, 9, 12, 8, 7], 1.0), ([12, 9, 15, 11, 10, 14], 0.3)]
)
@pytest.mark.parametrize("shrinkage", [0.05, 0.8])
def test_scores_are_those_of_the_definition(counts, share, shrinkage):
    """Fewer views than features are scored in their span; means and covariance are those of all views."""
    (rows, targets), x = draw(counts), unit(np.random.default_rng(9).normal(size=(5, D)))
    kept = np.random.default_rng(3).uniform(size=len(rows)) < share
    known, every = statistics(rows, targets, kept), np.ones(kept.sum(), dtype=bool)
    found = Machine(Portion(known, every), shrinkage).scores(x)
    expected = by_definition(rows, targets, kept, x, shrinkage)
    np.testing.assert_allclose([found.views, found.means, found.mixed], expected, atol=ATOL)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_views_held_back_leave_no_trace(share):
    """A machine without some views equals that of the others alone, also when no view of a class is left."""
    rows, targets = draw([6, 9, 5, 3, 8])
    kept = (np.random.default_rng(5).uniform(size=len(rows)) < share) | (targets == 3)
    known = statistics(rows, targets, kept)
    learned = (np.arange(kept.sum()) % 3 > 0) & (known.targets != 3)
    machine = Machine(Portion(known, learned), 0.2)
    assert machine.portion.present.tolist() == [True, True, True, False, True]
    left = np.ones(len(rows), dtype=bool)
    left[np.flatnonzero(kept)[~learned]] = False
    renumbered, x = np.array([0, 1, 2, -1, 3])[targets[left]], unit(np.random.default_rng(6).normal(size=(5, D)))
    scores, expected = machine.scores(x), by_definition(rows[left], renumbered, kept[left], x, 0.2)
    found = np.array([scores.views, scores.means, scores.mixed])
    np.testing.assert_allclose(found[:, :, machine.portion.present], expected, atol=ATOL)
    assert not found[:, :, 3].any()
    at = machine.scores_at(known.rows[~learned], known.lengths[~learned])
    np.testing.assert_allclose(at.views, machine.scores(known.directions[~learned]).views, atol=ATOL)


def test_outside_the_span_of_kept_views_the_variance_is_the_mean_of_what_is_there():
    """The kept views span 23 of 60 dimensions; the variance in the other 37 is taken as equal in all of them."""
    rows, targets = draw([20, 20, 20], d=60)
    kept = np.arange(len(rows)) % 3 == 0
    known = statistics(rows, targets, kept)
    machine, means = Machine(Portion(known, np.ones(kept.sum(), dtype=bool)), 0.2), known.sums / known.counts[:, None]
    centred = known.second - means.T @ (means * known.counts[:, None])
    every = sum(np.trace(scatter_of(rows[targets == k])) for k in range(3))
    assert np.trace(centred) + known.outside == pytest.approx(every)
    x = unit(np.random.default_rng(7).normal(size=(4, 60)))
    assert np.isfinite(machine.scores(x).views).all() and known.rows.shape[1] == 23


def test_one_view_and_views_that_are_all_alike():
    row = rounded(np.arange(1.0, D + 1))
    for n in (1, 4):
        rows, targets, kept = np.tile(row, (n, 1)), np.zeros(n, dtype=int), np.ones(n, dtype=bool)
        found = Machine(Portion(statistics(rows, targets, kept), kept), 0.2).scores(np.array([row, -row]))
        assert found.means[0, 0] == pytest.approx(1.0, abs=1e-5) and found.mixed[0, 0] > 1.1 > found.mixed[1, 0]
    machine = Machine(Portion(statistics(rows, targets, kept), kept), 0.2)
    assert np.isfinite(machine.scores(np.zeros((1, D))).mixed).all()
