"""Dask arrays: equal to arrays in memory, lazily predicted, checked block by block; a worker killed during the fit."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

dask_array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods import FALKON, NystromKRLS

KINDS, N = [FALKON, NystromKRLS], 5000
EXACT = {FALKON: {"tol": 1e-11}, NystromKRLS: {}}


@pytest.mark.parametrize("sampling", ["uniform", "leverage"])
@pytest.mark.parametrize("kind", KINDS)
def test_dask_arrays_give_what_arrays_give(kind, sampling, data):
    x, y = data
    settings = {"n_centers": 60, "regularization": 1e-3, "random_state": 0, "sampling": sampling, **EXACT[kind]}
    here = kind(**settings).fit(x, y)
    x_there = dask_array.from_array(x, chunks=(700, 2))
    for y_there in (dask_array.from_array(y, chunks=(900, 1)), y):
        there = kind(**settings).fit(x_there, y_there)
        np.testing.assert_array_equal(there.centers_, here.centers_)
        np.testing.assert_allclose(there.predict(x), here.predict(x), atol=1e-8)
    lazy = there.predict(x_there)
    assert isinstance(lazy, dask_array.Array)
    assert lazy.shape == (5000, 2)
    np.testing.assert_allclose(lazy.compute(), here.predict(x), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_one_target_and_lengths_known_only_to_dask(kind, data):
    x, y = data
    x_there, y_there = dask_array.from_array(x, chunks=(1000, -1)), dask_array.from_array(y[:, 0], chunks=1000)
    some = x_there[:, 0] > 0  # of unknown lengths
    settings = {"n_centers": 30, "regularization": 1e-3, "random_state": 0, **EXACT[kind]}
    there = kind(**settings).fit(x_there[some], y_there[some])
    here = kind(**settings).fit(x[x[:, 0] > 0], y[x[:, 0] > 0, 0])
    assert there.dual_coef_.shape == (30,)
    np.testing.assert_allclose(there.predict(x), here.predict(x), atol=1e-8)
    assert there.predict(x_there).shape == (5000,)
    np.testing.assert_allclose(there.predict(x_there).compute(), here.predict(x), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_blocks_are_refused(kind, data):
    x, y = (dask_array.from_array(values, chunks=(1000, -1)) for values in data)
    for error, words, bad in (
        (DataError, "Input X contains NaN", lambda: kind().fit(dask_array.where(x > 3, np.nan, x), y)),
        (DataError, "Input y contains", lambda: kind().fit(x, dask_array.where(y > 1, np.inf, y))),
        (DataError, "target 1 is constant at 0", lambda: kind().fit(x, y * np.array([1.0, 0.0]))),
        (DataError, "lengths 5000 and 4999", lambda: kind().fit(x, y[:-1])),
        (DataError, "dimensions", lambda: kind().fit(x[:, 0], y)),
        (DataError, "n_samples=1", lambda: kind().fit(x[:1], y[:1])),
        (DataError, "real numbers", lambda: kind().fit(x.astype(complex), y)),
        (ParameterError, "at most the number of samples, 5000", lambda: kind(n_centers=5001).fit(x, y)),
        (DataError, r"\(n, 3\)", lambda: kind(n_centers=10).fit(x, y).predict(x[:, :2])),
    ):
        with pytest.raises(error, match=words):
            bad()


def dask_rows(n_blocks, size):
    def make_rows(block, size, seed):  # inside a function, so that it travels by value: workers cannot import this file
        """A block of samples made where it is needed; slow enough for a worker to be killed in the middle of it."""
        time.sleep(0.05)
        return np.random.default_rng([seed, block[0] // size]).normal(size=(size, 3))

    index = dask_array.arange(0, n_blocks * size, size, chunks=1)
    x = index.map_blocks(make_rows, size, 0, new_axis=1, chunks=((size,) * n_blocks, 3), dtype=float)
    return x, dask_array.sin(x[:, 0]) + x[:, 1] * x[:, 2]


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_killed_during_the_fit_changes_nothing(kind, tmp_path):
    """Two worker processes; one is killed (SIGKILL) once it has done some blocks; the fit ends with the same result."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with (
        distributed.LocalCluster(local_directory=str(tmp_path), **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        x, y = dask_rows(10, 1000)
        workers = {name: worker.pid for name, worker in cluster.workers.items()}
        assert len(set(workers.values()) - {os.getpid()}) == 2
        done_blocks = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        killed = []

        def kill_one():
            while not killed:
                counter = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
                if counter > done_blocks + 30:
                    os.kill(workers[0], signal.SIGKILL)
                    killed.append(workers[0])
                time.sleep(0.02)

        killer = threading.Thread(target=kill_one, daemon=True)
        estimator = kind(n_centers=40, regularization=1e-3, random_state=0, centers=np.eye(3), **EXACT[kind])
        killer.start()
        estimator.fit(x, y)
        killer.join(10)
        assert killed
        assert cluster.workers[0].pid != killed[0]  # another process has taken its place, or is about to
    x_here = np.concatenate([np.random.default_rng([0, k]).normal(size=(1000, 3)) for k in range(10)])
    y_here = np.sin(x_here[:, 0]) + x_here[:, 1] * x_here[:, 2]
    k_nm, k_mm = RBF(1.0)(x_here, np.eye(3)), RBF(1.0)(np.eye(3))
    exact = np.linalg.solve(k_nm.T @ k_nm + 1e-3 * len(x_here) * k_mm, k_nm.T @ y_here)
    np.testing.assert_allclose(estimator.dual_coef_, exact, atol=1e-8)
