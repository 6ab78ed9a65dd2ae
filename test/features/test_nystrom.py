"""Nyström features against the kernel and its projection on the centres."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from icub_learning.features import NystromFeatures


@settings(deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 30), st.sampled_from([0.3, 1.0, 3.0]))
def test_inner_products_are_the_kernel_at_centers_and_its_projection_elsewhere(seed, n_inputs, n_centers, length_scale):
    rng = np.random.default_rng(seed)
    centers, x = rng.normal(size=(n_centers, n_inputs)), rng.normal(size=(15, n_inputs))
    features = NystromFeatures(centers, length_scale)
    at_centers, rows = features.transform(centers), features.transform(x)
    among, between = RBF(length_scale)(centers), RBF(length_scale)(x, centers)
    np.testing.assert_allclose(at_centers @ at_centers.T, among, atol=1e-7)
    np.testing.assert_allclose(rows @ at_centers.T, between, atol=1e-7)
    values = np.linalg.eigvalsh(among)
    if values[0] > 1e-6 * values[-1]:  # well conditioned: the inverse is accurate
        np.testing.assert_allclose(rows @ rows.T, between @ np.linalg.solve(among, between.T), atol=1e-8)
        assert features.n_features == n_centers
    assert (np.linalg.norm(rows, axis=1) <= 1 + 1e-6).all()  # a projection never lengthens


def test_one_center_and_far_away_inputs():
    features = NystromFeatures([[1.0, 2.0]], 0.5)
    assert features.n_features == 1
    np.testing.assert_allclose(np.abs(features.transform([1.0, 2.0])), [1.0], rtol=1e-15)
    np.testing.assert_array_equal(features.transform([1e9, -1e9]), [0.0])


def test_centers_far_from_the_origin_do_not_cancel():
    rng = np.random.default_rng(2)
    centers, x = rng.normal(size=(10, 3)), rng.normal(size=(5, 3))
    a, b = NystromFeatures(centers, 1.0).transform(x), NystromFeatures(centers + 1e6, 1.0).transform(x + 1e6)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-6)
