"""The time at which a recording is shown: it passes at the chosen speed, and follows the slider."""

from types import SimpleNamespace

import pytest

from icub_learning.view.page.controls import SPEEDS, Player


@pytest.fixture
def form():
    """What a page's form would show, by name."""
    return {}


@pytest.fixture
def player(form):
    def add(name, *given, initial_value=None, hint=""):
        return form.setdefault(name, SimpleNamespace(value=given[-1] if initial_value is None else initial_value))

    return Player(SimpleNamespace(gui=SimpleNamespace(add_checkbox=add, add_dropdown=add, add_slider=add)), 20.0)


@pytest.mark.parametrize("speed", SPEEDS)
def test_time_passes_as_fast_as_is_chosen(form, player, speed):
    form["speed"].value = speed
    for _ in range(40):
        shown = player.advance(0.1)
    assert shown == pytest.approx(4.0 * float(speed.split()[0]))
    assert form["time [s]"].value == pytest.approx(shown, abs=0.005)


def test_it_goes_on_where_the_slider_was_put_and_starts_again_at_the_end(form, player):
    player.advance(1.0)
    form["time [s]"].value = 12.0
    assert player.advance(0.5) == pytest.approx(12.5) and player.advance(8.0) == 0.0
    assert player.advance(0.25) == pytest.approx(0.25)


def test_it_stands_still_where_the_slider_was_let_go_while_it_is_not_played(form, player):
    player.advance(2.0)
    form["play"].value = False
    assert player.advance(1.0) == pytest.approx(2.0)
    form["time [s]"].value = 7.0
    for _ in range(20):
        assert player.advance(0.1) == 7.0
    sent = form["time [s]"].value  # changed, as an equal value is not sent to a slow page
    assert sent == pytest.approx(7.0, abs=1e-3) and sent != 7.0
    form["play"].value = True
    assert player.advance(1.0) == pytest.approx(8.0)
