"""The compiled fixed point against NumPy in double precision, in every version that this processor runs."""

import numpy as np
import pytest
from helpers.versions import every_version

from icub_learning.kernel_methods import FALKON, Kernel, NystromKRLS
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.subsampling import _stored, falkon_system, stored_kernel
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, inverse_norm

WHOLE = 256 * 65535  # steps of the fixed-point numbers between 0 and 1
SIZES = [(8, 64), (1, 1), (7, 5), (21, 131), (64, 1000)]  # whole groups and stretches, and remainders
version = every_version(_stored)


def kept(numbers):
    high, low = np.empty(numbers.shape, dtype=np.uint16), np.empty(numbers.shape, dtype=np.int8)
    _stored.keep(high, low, numbers, *numbers.shape, False)
    return high, low


@pytest.mark.parametrize("size", SIZES)
def test_numbers_are_kept_to_24_bits_and_to_16_of_them(version, size):
    numbers = np.random.default_rng(0).random(size)
    numbers.flat[0], numbers.flat[-1] = 1.0, 0.0 if numbers.size > 1 else 1.0
    (high, low), out = kept(numbers), np.empty(size)
    _stored.expand(out, high, low, *size)
    np.testing.assert_allclose(out, np.rint(numbers * WHOLE) / WHOLE, rtol=1e-15)
    assert out.flat[0] == 1.0
    _stored.expand(out, high, None, *size)
    np.testing.assert_allclose(out, numbers, rtol=0, atol=0.503 / 65535)


@pytest.mark.parametrize("size", SIZES)
def test_products_are_those_of_the_kept_numbers(version, size):
    rng = np.random.default_rng(1)
    numbers, vector = rng.random(size), rng.normal(size=size[1])
    high, low = kept(numbers)
    for some, rtol in ((low, 1e-13), (None, 1e-6)):
        matrix = np.empty(size)
        _stored.expand(matrix, high, some, *size)
        total = np.ones(size[1])
        _stored.add_product(total, vector, np.empty(size[1]), high, some, *size)
        exact, bound = 1.0 + matrix.T @ (matrix @ vector), 1.0 + matrix.T @ (matrix @ np.abs(vector))
        assert (np.abs(total - exact) <= rtol * bound).all()


@pytest.mark.parametrize("size", SIZES)
def test_exponentials_are_those_of_numpy(version, size):
    rng = np.random.default_rng(2)
    logarithms = -rng.exponential(size=size) * rng.choice([1e-8, 1.0, 30.0], size=size)
    logarithms.flat[0] = 1e-9  # above zero, by rounding of a distance
    numbers, high, low = logarithms.copy(), np.empty(size, dtype=np.uint16), np.empty(size, dtype=np.int8)
    _stored.keep(high, low, numbers, *size, True)
    np.testing.assert_allclose(numbers, np.exp(np.minimum(logarithms, 0.0)), rtol=3e-14, atol=1e-43)
    np.testing.assert_equal((high, low), kept(numbers))
    numbers = np.array([[-np.inf, -1e300, -745.0, -101.0, 0.0]])
    high, low = np.ones((1, 5), dtype=np.uint16), np.ones((1, 5), dtype=np.int8)
    _stored.keep(high, low, numbers, 1, 5, True)
    np.testing.assert_allclose(numbers, [[0, 0, 0, 0, 1]], rtol=3e-14, atol=1e-43)
    assert high.tolist() == [[0, 0, 0, 0, 65535]] and not low.any()


def test_wrong_arguments_are_refused():
    (high, low), total, vector, work = kept(np.zeros((4, 3))), np.zeros(3), np.ones(3), np.empty(3)
    product, keep, expand, numbers = _stored.add_product, _stored.keep, _stored.expand, np.zeros(12)
    for words, function, *arguments in (
        ("high: holds 12 numbers, needs 15", product, total, vector, work, high, low, 5, 3),
        ("low: expected int8, got format 'B'", product, total, vector, work, high, low.view(np.uint8), 4, 3),
        ("high: expected uint16", expand, np.empty(12), numbers, None, 4, 3),
        ("vector: holds 2 numbers, needs 3", product, total, vector[:2], work, high, low, 4, 3),
        ("rows: is -1, must be 0 to", keep, high, low, numbers, -1, 3, False),
        ("bytes-like", keep, high, None, numbers, 4, 3, False),
        ("float64", keep, high, low, numbers.astype(np.float32), 4, 3, False),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            function(*arguments)


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


@pytest.mark.parametrize(
    ("sigma", "regularization", "noise", "bits"),
    [(0.7, 1e-4, None, {16, 24}), (2.0, 1e-2, None, {24}), (2.0, 1e-2, np.inf, {16, 24}), (2.0, 1e-7, None, set())],
    ids=["16 bits lead", "24 bits lead", "16 bits are given up, though their noise was not foreseen", "none do"],
)
def test_as_many_bits_are_read_as_lead_to_the_direct_solution(monkeypatch, sigma, regularization, noise, bits):
    monkeypatch.setattr(falkon_system, "LARGEST_NOISE", noise or falkon_system.LARGEST_NOISE)
    rng = np.random.default_rng(6)
    x = rng.normal(size=(6000, 3))
    y, read, product = np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=6000), set(), stored_kernel.StoredKernel.product

    def watched(self, vectors, coarse=False):
        read.add(16 if coarse else 24)
        return product(self, vectors, coarse)

    monkeypatch.setattr(stored_kernel.StoredKernel, "product", watched)
    settings = {"length_scale": sigma, "regularization": regularization, "centers": x[:150]}
    direct, model = NystromKRLS(**settings).fit(x, y).predict(x), FALKON(tol=1e-8, max_iter=300, **settings).fit(x, y)
    assert model.stored_ == bool(bits) and read == bits
    np.testing.assert_allclose(model.predict(x), direct, rtol=0, atol=1e-6 if noise else 1e-5)
