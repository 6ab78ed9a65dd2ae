"""Dask arrays: results equal those of arrays in memory, also in a cluster; predictions are lazy, blocks checked."""

import numpy as np
import pytest

dask_array, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")

from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods import FALKON, NystromKRLS

KINDS, N = [FALKON, NystromKRLS], 5000
EXACT = {FALKON: {"tol": 1e-11}, NystromKRLS: {}}


@pytest.mark.parametrize("sampling", ["uniform", "leverage"])
@pytest.mark.parametrize("kind", KINDS)
def test_dask_arrays_give_what_arrays_give(kind, sampling, data):
    x, y = data
    settings = {"n_centers": 60, "regularization": 1e-3, "random_state": 0, "sampling": sampling, **EXACT[kind]}
    here, x_there = kind(**settings).fit(x, y), dask_array.from_array(x, chunks=(700, 2))
    for y_there in (dask_array.from_array(y, chunks=(900, 1)), y):
        there = kind(**settings).fit(x_there, y_there)
        np.testing.assert_array_equal(there.centers_, here.centers_)
        np.testing.assert_allclose(there.predict(x), here.predict(x), atol=1e-8)
    lazy = there.predict(x_there)
    assert isinstance(lazy, dask_array.Array) and lazy.shape == (5000, 2)
    np.testing.assert_allclose(lazy.compute(), here.predict(x), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_one_target_and_lengths_known_only_to_dask(kind, data):
    x, y = data
    x_there, y_there = dask_array.from_array(x, chunks=(1000, -1)), dask_array.from_array(y[:, 0], chunks=1000)
    some = x_there[:, 0] > 0  # lengths are unknown until computed
    settings = {"n_centers": 30, "regularization": 1e-3, "random_state": 0, **EXACT[kind]}
    there = kind(**settings).fit(x_there[some], y_there[some])
    here = kind(**settings).fit(x[x[:, 0] > 0], y[x[:, 0] > 0, 0])
    assert there.dual_coef_.shape == (30,)
    np.testing.assert_allclose(there.predict(x), here.predict(x), atol=1e-8)
    assert there.predict(x_there).shape == (5000,)
    np.testing.assert_allclose(there.predict(x_there).compute(), here.predict(x), atol=1e-8)
    late = np.arange(5000) >= 1000  # none in the first block
    np.testing.assert_allclose(there.predict(x_there[late]).compute(), here.predict(x[late]), atol=1e-8)
    whole = np.round(9.0 * y[:, 0]).astype(int)
    here = kind(**settings).fit(x, whole)
    for targets in (dask_array.from_array(whole, chunks=1000), whole.tolist()):
        np.testing.assert_allclose(kind(**settings).fit(x_there, targets).predict(x), here.predict(x), atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_blocks_are_refused(kind, data):
    x, y = (dask_array.from_array(values, chunks=(1000, -1)) for values in data)
    for error, words, bad in (
        (DataError, "Input X contains NaN", lambda: kind().fit(dask_array.where(x > 3, np.nan, x), y)),
        (DataError, "Input y contains", lambda: kind().fit(x, dask_array.where(y > 1, np.inf, y))),
        (DataError, "target 1 is constant at 0", lambda: kind().fit(x, y * np.array([1.0, 0.0]))),
        (DataError, "5000 and 4999", lambda: kind().fit(x, y[:-1])), (DataError, "4999", lambda: kind().fit(x[1:], y)),
        *((DataError, "dimensions", lambda xy=xy: kind().fit(*xy)) for xy in ((x[:, 0], y), (x, None), (x, y[None]))),
        (DataError, "n_samples=1", lambda: kind().fit(x[:1], y[:1])),
        (DataError, "real numbers", lambda: kind().fit(x.astype(complex), y)),
        (ParameterError, "at most the number of samples, 5000", lambda: kind(n_centers=5001).fit(x, y)),
        (DataError, r"1e\+101, must be of magnitude at most 1e\+100", lambda: kind().fit(x, y - 1e101)),
        *((DataError, r"\(n, 3\)", lambda bad=bad: kind(n_centers=10).fit(x, y).predict(bad))
          for bad in (x[:, :2], x[:, [0, 1, 2, 2]], x[:, 0])),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            bad()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_may_lie_in_other_processes(kind, data, tmp_path):
    (x, y), settings = data, {"n_centers": 40, "regularization": 1e-3, "random_state": 0, **EXACT[kind]}
    cluster = {"n_workers": 2, "processes": True, "dashboard_address": None, "local_directory": str(tmp_path)}
    with distributed.LocalCluster(**cluster) as workers, distributed.Client(workers):
        there = kind(**settings).fit(dask_array.from_array(x, chunks=(700, 2)), y)
    np.testing.assert_allclose(there.predict(x), kind(**settings).fit(x, y).predict(x), atol=1e-8)
