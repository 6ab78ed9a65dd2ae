"""Fastfood: the transform against SciPy's matrix, the projection against its factors, the kernel on average."""

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix
from sklearn.gaussian_process.kernels import RBF

from icub_learning.features.fastfood import FastfoodProjection, hadamard


@pytest.mark.parametrize("size", [1, 2, 8, 64])
def test_the_transform_is_the_hadamard_matrix(size):
    x = np.random.default_rng(0).normal(size=(5, size))
    np.testing.assert_allclose(hadamard(x.copy()), x @ hadamard_matrix(size), atol=1e-12)


def test_the_projection_is_the_product_of_its_factors():
    projection, h = FastfoodProjection(6, 20, 0.7, seed=3), hadamard_matrix(8)
    rows = [np.diag(n) @ h @ np.diag(g) @ np.eye(8)[o] @ h @ np.diag(s) for s, o, g, n in projection.blocks]
    x = np.random.default_rng(1).normal(size=(4, 6))
    np.testing.assert_allclose(projection(x), (np.pad(x, ((0, 0), (0, 2))) @ np.vstack(rows).T)[:, :20], atol=1e-12)


@pytest.mark.parametrize("n_inputs", [1, 5, 16])
def test_cosines_of_differences_are_the_gaussian_kernel_on_average(n_inputs):
    x = np.random.default_rng(2).normal(size=(30, n_inputs)) / np.sqrt(n_inputs)
    phases = FastfoodProjection(n_inputs, 10000, 1.3, seed=1)(x)
    np.testing.assert_allclose(np.cos(phases[:, None] - phases).mean(axis=2), RBF(1.3)(x), atol=0.05)


def test_fewer_phases_are_the_first_of_more():
    x = np.random.default_rng(3).normal(size=(3, 5))
    few, many = FastfoodProjection(5, 9, 1.0, 0)(x), FastfoodProjection(5, 40, 1.0, 0)(x)
    np.testing.assert_array_equal(few, many[:, :9])
