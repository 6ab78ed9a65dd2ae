"""Compare kernel methods on one data set: accuracy, time, and how many numbers the model keeps.

    python examples/kernel_methods_on_a_data_set.py                # Friedman's first function, made on the spot
    python examples/kernel_methods_on_a_data_set.py TABLE.csv      # numbers, the last column is the target

Length scale and regularization are chosen on a validation set, and errors are measured on a test set.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from icub_learning.kernel_methods import (
    FALKON,
    KRLS,
    IncrementalNystromKRLS,
    NystromKRLS,
    POLKRegressor,
    RandomFeaturesKRLS,
)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("table", nargs="?", help="CSV without a header")
parser.add_argument("--samples", type=int, default=2000, help="of the data made on the spot")
args = parser.parse_args()
if args.samples < 20:
    parser.error(f"--samples is {args.samples}, but must be at least 20: a quarter each is for validation and test")

if args.table:
    try:
        table = np.loadtxt(args.table, delimiter=",", ndmin=2)
        if len(table) < 20 or table.shape[1] < 2 or not np.isfinite(table).all():
            raise ValueError(f"its shape is {table.shape}; at least 20 rows and 2 columns of finite numbers are needed")
    except (OSError, ValueError) as error:
        parser.error(f"{args.table} is no table of numbers, separated by commas, without a header: {error}")
    x, y = table[:, :-1], table[:, -1]
else:
    x, y = make_friedman1(args.samples, n_features=8, noise=1.0, random_state=0)

x, x_test, y, y_test = train_test_split(x, y, test_size=0.25, random_state=0)
if np.ptp(y) == 0.0:
    parser.error(f"the target is {y[0]:g} in all rows to learn from: put one that varies into the last column")
scaler = StandardScaler().fit(x)
x, x_test = scaler.transform(x), scaler.transform(x_test)
mean, deviation = y.mean(), y.std()
y, y_test = (y - mean) / deviation, (y_test - mean) / deviation
x_learn, x_valid, y_learn, y_valid = train_test_split(x, y, test_size=0.25, random_state=1)


def rmse(model, x, y):
    """Return the RMSE in units of the target's standard deviation: predicting the mean gives 1."""
    return float(np.sqrt(np.mean((model.predict(x) - y) ** 2)))


n_centers = min(200, len(x_learn))
grid = [
    {"length_scale": length_scale, "regularization": 10.0**power}
    for length_scale in np.sqrt(x.shape[1]) * np.array([0.5, 1.0, 2.0])
    for power in range(-9, -1)
]
scores = [
    rmse(NystromKRLS(n_centers=n_centers, random_state=0, **setting).fit(x_learn, y_learn), x_valid, y_valid)
    for setting in grid
]
chosen = grid[int(np.argmin(scores))]
print(f"chosen on {len(x_valid)} validation samples: " + ", ".join(f"{k} = {v:.3g}" for k, v in chosen.items()))

methods = {
    "KRLS": KRLS(**chosen),
    "NystromKRLS": NystromKRLS(n_centers=n_centers, random_state=0, **chosen),
    "FALKON": FALKON(n_centers=n_centers, random_state=0, **chosen),
    "RandomFeaturesKRLS": RandomFeaturesKRLS(n_features=2 * n_centers, random_state=0, **chosen),
    "POLKRegressor": POLKRegressor(**chosen),
}
print(f"{'method':<20}{'test RMSE':>10}{'fit [s]':>10}{'kept':>8}")
for name, model in methods.items():
    start = time.perf_counter()
    model.fit(x, y)
    seconds = time.perf_counter() - start
    kept = sum(np.size(getattr(model, entry, ())) for entry in ("dual_coef_", "coef_"))
    print(f"{name:<20}{rmse(model, x_test, y_test):>10.3f}{seconds:>10.2f}{kept:>8}")

# One incremental fit gives the model of every size, so the size is chosen without fitting again.
path = IncrementalNystromKRLS(n_centers=n_centers, random_state=0, **chosen).fit(x_learn, y_learn)
errors = np.sqrt(np.mean((path.predict_path(x_valid).reshape(len(path.path_levels_), -1) - y_valid) ** 2, axis=1))
enough = path.path_levels_[np.flatnonzero(errors <= 1.02 * errors.min())[0]]
print(f"{enough} of {n_centers} centres come within 2 % of the smallest validation error")
