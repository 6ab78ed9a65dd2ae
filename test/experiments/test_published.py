"""Published figures as the code states them: their sums, and their agreement with each other."""

import re
from importlib import import_module
from numbers import Number
from typing import Any

import numpy as np
import pytest

from icub_learning.experiments.tensor import synthetic
from icub_learning.experiments.thesis import table_7_1

# Sums of all figures of a table, added up from the source.
SUMS = {
    ("thesis.table_7_1", "PUBLISHED"): (2115.5, 2190.0), ("thesis.table_6_2", "PUBLISHED"): (30.583, 117.0, 8669.493),
    ("thesis.table_4_1", "PUBLISHED"): (1.9258, 48.4936, 198.6376, 0.7037),
    ("thesis.table_4_3", "PUBLISHED"): (1119.290141, 6336.083581),
    ("falkon", "PUBLISHED"): (55.0, 289.0, 737.0, 772.0, 876.0),
    ("detection", "PUBLISHED"): (101.3, 88.1, 65.5), ("tensor.selection", "PUBLISHED"): (234, 215, 197),
}  # fmt: skip
# Settings that the description of an experiment states too.
STATED = {
    "detection": "FRAMES", "polk.convergence": "POINTS LAMBDA FIRST LOOKS", "polk.curves": "DENSE",
    "polk.multidist": "BUDGET N_TRAIN N_TEST N_CLASSES",
    "recognition.experiment": "CLASSES KNOWN UNKNOWN LATE_CLASSES",
    "tensor.selection": "N D S NOISE VALIDATION SIZES", "tensor.synthetic": "GAMMA NOISE D S TEST SUBSAMPLES BEST",
    "tensor.wpbc": "TRAIN", "thesis.figure_4_1": "POINTS PUBLISHED_RMSE", "thesis.figure_4_2": "LEVELS SIGMA LAMBDA",
    "thesis.figure_8_4": "SAMPLES", "thesis.nytro": "ITERATIONS", "thesis.stopping_rates": "NOISE FURTHER",
    "thesis.table_4_1": "SCALES MOST STEPS", "thesis.table_4_3": "ITERATIONS SPARSE",
    "thesis.table_6_2": "TRIALS STEPS",
}  # fmt: skip


def module(name: str) -> Any:
    return import_module(f"icub_learning.experiments.{name}")


def numbers(value: Any) -> list[float]:
    """Return all numbers in nested tables."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | range):
        return [number for one in value for number in numbers(one)]
    return [float(value)] if isinstance(value, Number) else []


@pytest.mark.parametrize(("name", "table"), SUMS)
def test_tables_are_those_of_the_sources(name, table):
    found = [sum(numbers(part)) for part in getattr(module(name), table).values()]
    np.testing.assert_allclose(found, SUMS[name, table], rtol=1e-9)


@pytest.mark.parametrize("name", STATED)
def test_settings_are_those_that_the_description_states(name):
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "", module(name).DESCRIPTION)
    said = {float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text)}
    for constant in STATED[name].split():
        found = numbers(getattr(module(name), constant))
        assert found and set(found) <= said, constant


def test_tables_agree_with_each_other_and_with_what_they_are_sums_and_ratios_of():
    packed, full = (np.array(synthetic.PUBLISHED[120][name]) for name in ("packed", "full"))
    np.testing.assert_allclose([packed.sum(), full.sum()], [138.72, 2076.12], atol=0.1)
    np.testing.assert_allclose([full[0] / packed[0], packed[1] / full[1]], [41.57, 16.80], rtol=2e-3)
    assert synthetic.SUBSAMPLED[20][1] / synthetic.SUBSAMPLED[20][0] == pytest.approx(24.2, rel=0.01)
    for rows in table_7_1.PUBLISHED.values():
        for method in rows.values():  # accuracy on the late class grows with its number of examples
            assert len(method) == len(table_7_1.N_IMB) and (np.diff([late for _, late in method]) >= 0).all()
