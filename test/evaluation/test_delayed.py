"""Samples that wait until they are as old as the delay."""

import pytest

from icub_learning.evaluation.delayed import is_due


@pytest.mark.parametrize(("stamp", "due"), [(899, True), (900, True), (901, False), (1100, False), (1101, True)])
def test_what_is_as_old_as_the_delay_is_due_and_what_is_of_a_clock_set_back(stamp, due):
    assert is_due(stamp, now=1000, delay=100.0) is due
