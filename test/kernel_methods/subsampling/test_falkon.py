"""FALKON and preconditioned KRLS against direct solutions; threads, warm starts, files larger than memory."""

import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from threadpoolctl import threadpool_limits

from icub_learning.kernel_methods import FALKON, KRLS, Kernel, NystromKRLS, PreconditionedKRLS
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.subsampling import falkon, falkon_system, stored_kernel
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, inverse_norm

N, D, SIGMA = 3000, 4, 1.5


@pytest.mark.parametrize("kernel, sampling", [("gaussian", "uniform"), ("gaussian", "leverage"), ("matern", "uniform")])
@pytest.mark.parametrize("tol", [1e-3, 1e-10])
def test_falkon_ends_at_the_direct_nystrom_solution_from_single_precision_too(kernel, sampling, tol, data):
    """`tol` bounds the residual of the normal equations, computed in double precision from the whole matrix."""
    x, y = data
    settings = {"kernel": kernel, "length_scale": SIGMA, "regularization": 1e-4, "n_centers": 200, "sampling": sampling}
    settings["random_state"] = 0
    direct = NystromKRLS(**settings).fit(x, y)
    kept, computed = (FALKON(tol=tol, storage=storage, **settings).fit(x, y) for storage in ("auto", "none"))
    assert (kept.stored_, computed.stored_) == (True, False)
    for fitted in (kept, computed):
        np.testing.assert_array_equal(fitted.centers_, direct.centers_)
        np.testing.assert_allclose(fitted.predict(x), direct.predict(x), atol=max(20 * tol, 1e-8))
        assert fitted.n_kept_ == direct.n_kept_
    assert kept.n_iter_ <= 1.5 * computed.n_iter_ + 2  # each correction, of two or three, restarts the search
    for unit in (2.0**30, 2.0**-30):  # the targets' unit decides nothing; powers of two are not rounded
        scaled = FALKON(tol=tol, **settings).fit(x, unit * y)
        np.testing.assert_array_equal(scaled.dual_coef_, unit * kept.dual_coef_)
        assert scaled.n_iter_ == kept.n_iter_
    few = FALKON(tol=tol, **settings).fit(x[:250], y[:250])
    assert few.n_iter_ <= 12  # its preconditioner averages over all of them; over half of them it takes 43 and more


def test_the_preconditioner_is_the_sources_and_makes_the_condition_small(data):
    """Written out are B = n^(-1/2) T^-1 A^-1 and the condition number of B^T H B, to compare with that of H."""
    x, y = data
    centers, level = x[:150], 1e-2
    basis = CenterBasis(Kernel("gaussian", SIGMA), centers)
    assert len(basis.kept) == 150
    scatter = falkon_system.estimate_scatter(ArrayRows(x, y), basis, np.ones(150), 0, 1e-6, None)
    system = falkon_system.PreconditionedSystem(ArrayRows(x, y), basis, scatter, level)
    k_nm, k_mm = RBF(SIGMA)(x, centers), RBF(SIGMA)(centers)
    h, t = k_nm.T @ k_nm + level * N * k_mm, np.linalg.cholesky(k_mm).T
    b = np.linalg.inv(t) @ np.linalg.inv(np.linalg.cholesky(t @ t.T / 150 + level * np.eye(150)).T) / np.sqrt(N)
    np.testing.assert_allclose(system.apply(np.eye(150)), b.T @ h @ b, atol=1e-8)
    np.testing.assert_allclose(system.to_coefficients(np.eye(150)), b, atol=1e-6)
    np.testing.assert_allclose(system.right_hand_side(2), b.T @ k_nm.T @ y, atol=1e-8)
    assert np.linalg.cond(b.T @ h @ b) < 5 < 1e5 < np.linalg.cond(h)
    system.stored, right = stored_kernel.StoredKernel(ArrayRows(x, y), basis.against), system.right_hand_side(2)
    *_, (solution, left) = falkon._refined(system, right, 1e-4 * np.linalg.norm(right, axis=0))
    np.testing.assert_allclose(left, right - system.apply(solution), rtol=1e-9, atol=1e-14)  # not what CG believes


def test_weights_of_leverage_sampling_keep_the_preconditioner_unbiased():
    """Rare samples are drawn thirty times as often as the others: without weights the condition is far worse."""
    rng = np.random.default_rng(2)
    x = np.concatenate([0.2 * rng.normal(size=(2900, 2)), rng.uniform(-8, 8, size=(100, 2))])
    chances = np.concatenate([np.full(2900, 0.5 / 2900), np.full(100, 0.5 / 100)])
    drawn = rng.choice(3000, 400, p=chances)
    basis, conditions = CenterBasis(Kernel("gaussian", 1.0), x[drawn]), []
    for weights in (1 / (3000 * chances[drawn]), np.ones(400)):
        scatter = falkon_system.estimate_scatter(ArrayRows(x, x), basis, weights, 0, 1e-6, None)
        system = falkon_system.PreconditionedSystem(ArrayRows(x, x), basis, scatter, 1e-4)
        conditions.append(np.linalg.cond(system.apply(np.eye(system.size))))
    assert conditions[0] < 0.5 * conditions[1]
    settings = {"n_centers": 300, "regularization": 1e-4, "n_preconditioner": 0, "random_state": 0, "tol": 1e-8}
    model = FALKON(sampling="leverage", storage="none", **settings).fit(x, np.sin(x[:, 0]))
    assert model.n_iter_ < 40  # without weights it takes 77


def test_threads_share_the_rows(data):
    x, y = data
    against, vectors = Kernel("gaussian", SIGMA).against(x[:50]), np.random.default_rng(0).normal(size=(50, 3))
    k = RBF(SIGMA)(np.tile(x, (3, 1)), x[:50])
    with threadpool_limits(3, "blas"):
        rows = ArrayRows(np.tile(x, (3, 1)), np.tile(y, (3, 1)))
        assert rows.n_threads == 3
        (moment,), (product,) = (rows.sum(falkon_system.KernelProducts(against, some, 2)) for some in (None, vectors))
        np.testing.assert_array_equal(rows.map(lambda some: some[:, 0]), np.tile(x[:, 0], 3))
    np.testing.assert_allclose(moment, k.T @ np.tile(y, (3, 1)), atol=1e-8)
    np.testing.assert_allclose(product, k.T @ (k @ vectors), atol=1e-8)


def test_float32_rows_are_read_as_they_are(data):
    x, y = data
    settings = {"length_scale": SIGMA, "regularization": 1e-3, "centers": x[:60], "tol": 1e-10}
    single = FALKON(**settings).fit(x.astype(np.float32), y.astype(np.float32))
    double = FALKON(**settings).fit(x.astype(np.float32).astype(float), y.astype(np.float32).astype(float))
    np.testing.assert_allclose(single.predict(x), double.predict(x), atol=1e-8)
    assert single.predict(x.astype(np.float32)).dtype == np.float64


def test_preconditioned_krls_is_krls(data):
    (x, y), settings = (some[:800] for some in data), {"length_scale": SIGMA, "regularization": 1e-4}
    exact, settings = KRLS(**settings).fit(x, y), settings | {"tol": 1e-11, "random_state": 0}
    fitted = PreconditionedKRLS(n_centers=200, **settings).fit(x, y)
    np.testing.assert_allclose(fitted.predict(x), exact.predict(x), atol=1e-8)
    np.testing.assert_allclose(fitted.dual_coef_, exact.dual_coef_, atol=1e-6)
    assert fitted.n_iter_ < 0.6 * PreconditionedKRLS(n_centers=10, **settings).fit(x, y).n_iter_  # better conditioned
    with pytest.warns(ConvergenceWarning, match="2 iterations.*larger n_centers") as caught:
        PreconditionedKRLS(n_centers=10, max_iter=2, **settings).fit(x, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kernel", ["gaussian", "matern"])
def test_products_in_single_precision_are_those_of_the_kernel(data, kernel):
    (x, y), kernel = (np.concatenate([some, some[::-1]]) for some in data), Kernel(kernel, SIGMA)
    with threadpool_limits(2, "blas"):
        stored, block = stored_kernel.StoredKernel(ArrayRows(x, y), kernel.against(x[:150])), kernel(x, x[:150])
    np.testing.assert_allclose(stored.moment, block.T @ y, rtol=1e-12, atol=1e-9)
    vectors = np.random.default_rng(2).normal(size=(150, 2)) * [1e-60, 1e60]
    for some in (vectors, vectors[:, :1]):
        product, exact, bound = stored.product(some), block.T @ (block @ some), block.T @ (block @ np.abs(some))
        assert 0 < np.abs((product - exact) / bound).max() < 1e-6


def test_a_matrix_that_memory_does_not_hold_is_computed_again_in_each_pass(data, monkeypatch):
    (x, y), settings = data, {"length_scale": SIGMA, "n_centers": 50, "random_state": 0}
    monkeypatch.setattr(stored_kernel, "available_bytes", lambda: 4 * 4 * N * 50 - 1)
    assert not FALKON(**settings).fit(x, y).stored_
    monkeypatch.setattr(stored_kernel, "available_bytes", lambda: 4 * 4 * N * 50)
    assert FALKON(**settings).fit(x, y).stored_
    assert not FALKON(kernel="linear", **settings).fit(x, y).stored_  # single precision would be given up


@pytest.mark.parametrize(
    ("sigma", "regularization", "tol", "most", "passes"),
    [(0.7, 1e-4, 1e-3, 3e-3, "DSS+D"), (0.7, 1e-4, 1e-8, 3e-3, "DS(S+D){2,4}"), (2.0, 1e-2, 1e-8, 3e-3, "DSD{5,9}"),
     (2.0, 1e-7, 1e-6, 3e-3, "DSD+"), (2.0, 1e-6, 1e-6, np.inf, "DSS+DD+")],
    ids=["at once", "refined", "too coarse", "far too coarse", "given up"],
)  # fmt: skip
def test_single_precision_finds_the_direct_solution_or_gives_up(monkeypatch, sigma, regularization, tol, most, passes):
    """Passes over the rows: S in single precision with the kept matrix, D in double; the first two compare them."""
    x, seen = (rng := np.random.default_rng(6)).normal(size=(6000, 3)), []
    y = np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=6000)
    monkeypatch.setattr(falkon, "COARSE", most)
    for name, letter in (("apply_stored", "S"), ("apply", "D")):
        work = getattr(falkon_system.PreconditionedSystem, name)

        def watched(*args, work=work, letter=letter):
            seen.append(letter)
            return work(*args)

        monkeypatch.setattr(falkon_system.PreconditionedSystem, name, watched)
    settings = {"length_scale": sigma, "regularization": regularization, "centers": x[:150], "random_state": 0}
    direct, model = NystromKRLS(**settings).fit(x, y), FALKON(tol=tol, max_iter=300, **settings).fit(x, y)
    assert model.stored_ == ("S+" in passes) and re.fullmatch(passes, "".join(seen)), "".join(seen)
    np.testing.assert_allclose(model.predict(x), direct.predict(x), rtol=0, atol=20 * tol)


def test_the_preconditioner_is_the_same_from_kernel_values_as_from_features(monkeypatch):
    x = np.random.default_rng(4).normal(size=(4000, 5))
    rows, basis = ArrayRows(x, np.zeros((4000, 1))), CenterBasis(Kernel(length_scale=1.0), x[:100])
    fast = falkon_system.estimate_scatter(rows, basis, np.ones(100), None, 1e-5, 0)
    monkeypatch.setattr(falkon_system, "GRAM", 0.0)
    careful = falkon_system.estimate_scatter(rows, basis, np.ones(100), None, 1e-5, 0)
    assert np.abs(np.triu(fast) - np.triu(careful)).max() > 0  # the two ways do differ
    np.testing.assert_allclose(np.triu(fast), np.triu(careful), atol=1e-10)


def test_the_norm_of_an_inverse_is_estimated():
    triangle = np.asfortranarray(np.triu(np.random.default_rng(5).normal(size=(60, 60))) + 6 * np.eye(60))
    exact = np.linalg.norm(np.linalg.inv(triangle), 1)
    assert exact / 3 < inverse_norm(triangle) < 1.001 * exact
    triangle[30, 30] = 0.0
    assert inverse_norm(triangle) == np.inf


OUT_OF_CORE = """
import resource, sys
import numpy as np
from icub_learning.kernel_methods import FALKON, NystromKRLS

n, d = {n}, {d}
x = np.memmap(sys.argv[1], dtype=np.float32, mode="r", shape=(n, d))
y = np.memmap(sys.argv[2], dtype=np.float64, mode="r", shape=(n,))
for kind in (FALKON, NystromKRLS):  # what imports and the work space of BLAS take does not count
    kind(n_centers=100).fit(x[:5000], y[:5000])
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + {allowed}, used + {allowed}))
try:
    np.zeros(3 * {allowed}, dtype=np.uint8)  # half of K_nm
except MemoryError:
    print("limited")
for kind in (FALKON, NystromKRLS):
    fitted = kind(length_scale=4.0, regularization=1e-4, n_centers=100, random_state=0).fit(x, y)
    print(fitted.score(x[:2000], y[:2000]))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts allocations on Linux only")
def test_files_larger_than_the_memory_allowed(tmp_path):
    """48 MB of float32 samples; K_nm would be 240 MB; 40 MB of allocations are allowed."""
    n, d, rng = 300_000, 40, np.random.default_rng(6)
    x = rng.normal(size=(n, d)).astype(np.float32)
    x[:, 3:] *= 0.05
    x.tofile(tmp_path / "x")
    np.sin(x[:, 0].astype(float)).tofile(tmp_path / "y")
    command = [sys.executable, "-c", OUT_OF_CORE.format(n=n, d=d, allowed=40_000_000), tmp_path / "x", tmp_path / "y"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    limited, *scores = done.stdout.split()
    assert limited == "limited" and min(map(float, scores)) > 0.9
