"""Published figures as the code states them: their sums, and their agreement with each other."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from icub_learning.experiments.tensor import synthetic
from icub_learning.experiments.thesis.late_class import table_7_1

HERE = "icub_learning.experiments"
SUMS, STATED, FULL = yaml.safe_load(Path(__file__).with_name("published.yaml").read_text()).values()


def numbers(value: Any) -> list[float]:
    """Return all numbers in nested tables."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | range):
        return [number for one in value for number in numbers(one)]
    return [float(value)] if isinstance(value, int | float) else []


@pytest.mark.parametrize("table", SUMS)
def test_tables_are_those_of_the_sources(table):
    module, name = table.split()
    found = [sum(numbers(part)) for part in getattr(import_module(f"{HERE}.{module}"), name).values()]
    np.testing.assert_allclose(found, SUMS[table], rtol=1e-9)


@pytest.mark.parametrize("name", STATED)
def test_settings_are_those_that_the_description_states(name):
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "", import_module(f"{HERE}.{name}").DESCRIPTION)
    said = {float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text)}
    for constant in STATED[name].split():
        found = numbers(getattr(import_module(f"{HERE}.{name}"), constant))
        assert found and set(found) <= said, constant


@pytest.mark.parametrize("name", FULL)
def test_settings_of_full_forms_are_those_of_the_figures_in_the_documents(name):
    found = {one: sum(numbers(getattr(import_module(f"{HERE}.{name}"), one))) for one in FULL[name]}
    assert found == pytest.approx(FULL[name], rel=1e-8)


def test_tables_agree_with_each_other_and_with_what_they_are_sums_and_ratios_of():
    packed, full = (np.array(synthetic.PUBLISHED[120][name]) for name in ("packed", "full"))
    np.testing.assert_allclose([packed.sum(), full.sum()], [138.72, 2076.12], atol=0.1)
    np.testing.assert_allclose([full[0] / packed[0], packed[1] / full[1]], [41.57, 16.80], rtol=2e-3)
    assert synthetic.SUBSAMPLED[20][1] / synthetic.SUBSAMPLED[20][0] == pytest.approx(24.2, rel=0.01)
    for rows in table_7_1.PUBLISHED.values():
        for method in rows.values():  # accuracy on the late class grows with its number of examples
            assert len(method) == len(table_7_1.N_IMB) and (np.diff([late for _, late in method]) >= 0).all()
