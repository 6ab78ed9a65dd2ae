"""Velocities and accelerations by local polynomials over a window, with which tests compare the motion filter."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def newest_by_window(stamps, position, velocity, window, order, velocity_weight=0.0):
    """Return velocity and acceleration at each newest sample, (n, 2, joints); all windows are fitted at once. They are
    NaN before the first full window; a window may reach across a gap."""
    times = sliding_window_view(stamps, window)
    times = (times - times[:, -1:]) * 1e-9
    scale, powers = (-2.0 / times[:, 0])[:, None, None], np.arange(order + 1)
    u = scale * times[:, :, None] + 1.0
    design, values = u**powers, sliding_window_view(position, window, axis=0).swapaxes(1, 2)
    if velocity is not None and velocity_weight > 0:
        slopes = velocity_weight * scale * powers * u ** np.maximum(powers - 1, 0)
        rates = sliding_window_view(velocity, window, axis=0).swapaxes(1, 2)
        design = np.concatenate([design, slopes], axis=1)
        values = np.concatenate([values, velocity_weight * rates], axis=1)
    transposed = design.swapaxes(1, 2)
    fitted = np.linalg.solve(transposed @ design, transposed @ values)  # well conditioned, as u is within [-1, 1]
    found = np.full((len(stamps), 2, position.shape[1]), np.nan)
    found[window - 1 :, 0] = scale[:, 0] * (powers @ fitted)
    found[window - 1 :, 1] = scale[:, 0] ** 2 * (powers * (powers - 1) @ fitted)
    return found
