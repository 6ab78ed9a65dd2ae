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
    def add(name, *given, initial_value=None, hint="", visible=True):
        value = given[-1] if initial_value is None else initial_value
        return form.setdefault(name + ", stopped" * (not visible), SimpleNamespace(value=value, visible=visible))

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
    moving, stopped = form["time [s]"], form["time [s], stopped"]
    player.advance(2.0)
    assert moving.visible and not stopped.visible
    form["play"].value = False
    assert player.advance(1.0) == pytest.approx(2.0)
    assert stopped.visible and not moving.visible and stopped.value == pytest.approx(2.0)
    moving.value = 9.0  # a message that was still under way: nobody can have moved what was seen no more
    for place in (7.0, 7.05):
        stopped.value = place
        assert all(player.advance(0.1) == stopped.value == place for _ in range(20))
    stopped.value, form["play"].value = 8.0, True  # at once
    assert player.advance(1.0) == pytest.approx(9.0) and moving.value == pytest.approx(9.0)
    moving.value, form["play"].value = 12.0, False
    assert player.advance(1.0) == stopped.value == 12.0
