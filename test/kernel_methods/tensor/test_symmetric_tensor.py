"""Packed symmetric tensors against full ones."""

import itertools
from math import comb

import numpy as np
import pytest
from helpers.versions import every_version

from icub_learning.errors import ParameterError
from icub_learning.kernel_methods import SymmetricTensor
from icub_learning.kernel_methods.tensor import _symmetric, symmetric_tensor

version = every_version(_symmetric, autouse=True)
SIZES = [(1, 4), (2, 6), (6, 2), (7, 4), (4, 6), (5, 3), (3, 5), (9, 1)]


def both(n, order, function=None, d=3, seed=0):
    rng = np.random.default_rng(seed)
    samples, weights, packed = rng.normal(size=(n, d)), rng.normal(size=d), SymmetricTensor(n, order)
    packed.fill(samples, weights, function)
    letters = "abcdef"[:order]
    full = np.einsum(",".join(f"{letter}z" for letter in letters) + ",z->" + letters, *[samples] * order, weights)
    if function is not None:
        function(full)
    return packed, full


@pytest.mark.parametrize("n, order", SIZES)
def test_entries_are_those_of_the_full_tensor_each_different_one_once(n, order):
    packed, full = both(n, order, lambda values: np.exp(values, out=values))
    different = list(itertools.combinations_with_replacement(range(n), order))
    assert sorted(symmetric_tensor.position(one) for one in different) == list(range(len(different)))
    assert len(different) == symmetric_tensor.n_entries(n, order) == packed.entries.size
    for indices in itertools.product(range(n), repeat=order):
        assert packed.entries[symmetric_tensor.position(indices)] == pytest.approx(full[indices], rel=1e-12)


@pytest.mark.parametrize("n, order", SIZES)
def test_value_gradient_and_curvature_are_those_of_the_full_tensor(n, order):
    packed, full = both(n, order)
    vector, chain = np.random.default_rng(1).normal(size=n), [full]
    for _ in range(order):
        chain.append(chain[-1] @ vector)
    scale = np.abs(full).sum()
    assert packed.form(vector) == pytest.approx(chain[order], abs=1e-12 * scale)
    np.testing.assert_allclose(packed.gradient(vector), chain[order - 1], atol=1e-12 * scale)
    if order >= 2:
        value, gradient, curvature = packed.derivatives(vector)
        assert value == packed.form(vector)
        np.testing.assert_array_equal(gradient, packed.gradient(vector))
        np.testing.assert_allclose(curvature, (order - 1) * chain[order - 2], atol=1e-12 * scale)


def test_the_limit_is_what_is_available(monkeypatch):
    with pytest.raises(ParameterError, match=f"{comb(5003, 4)} .*{8 * comb(5003, 4)} bytes"):
        SymmetricTensor(5000, 4)  # more than any machine has, and before anything is allocated
    monkeypatch.setattr(symmetric_tensor, "available_bytes", lambda: 8 * 715)
    assert SymmetricTensor(10, 4).entries.size == 715
    with pytest.raises(ParameterError, match="5720 bytes"):
        SymmetricTensor(11, 4)
