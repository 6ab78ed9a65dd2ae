"""The time at which a recording is shown: it passes as fast as is chosen, and follows the slider."""

from types import SimpleNamespace

import pytest

from icub_learning.view.page.controls import SPEEDS, Player


class Form:
    """Keeps the values of what a page's form would show."""

    def __init__(self):
        self.made = {}

    def add(self, name, *given, initial_value=None, hint=""):
        self.made[name] = SimpleNamespace(value=given[-1] if initial_value is None else initial_value)
        return self.made[name]

    add_checkbox = add_dropdown = add_slider = add


@pytest.fixture
def form():
    return Form()


@pytest.fixture
def player(form):
    return Player(SimpleNamespace(gui=form), 20.0)


@pytest.mark.parametrize("speed", SPEEDS)
def test_time_passes_as_fast_as_is_chosen(form, player, speed):
    form.made["speed"].value = speed
    for _ in range(40):
        shown = player.advance(0.1)
    assert shown == pytest.approx(4.0 * float(speed.split()[0]))
    assert form.made["time [s]"].value == pytest.approx(shown, abs=0.005)


def test_it_goes_on_where_the_slider_was_put_and_starts_again_at_the_end(form, player):
    player.advance(1.0)
    form.made["time [s]"].value = 12.0
    assert player.advance(0.5) == pytest.approx(12.5)
    assert player.advance(8.0) == 0.0
    assert player.advance(0.25) == pytest.approx(0.25)


def test_it_stands_still_while_it_is_not_played_and_still_follows_the_slider(form, player):
    player.advance(2.0)
    form.made["play"].value = False
    assert player.advance(1.0) == pytest.approx(2.0)
    form.made["time [s]"].value = 7.0
    assert player.advance(1.0) == 7.0
    form.made["play"].value = True
    assert player.advance(1.0) == pytest.approx(8.0)


def test_the_slider_of_a_slow_page_is_set_right_once_it_was_let_go(form, player):
    player.advance(2.0)
    form.made["play"].value = False
    form.made["time [s]"].value = 7.0
    for _ in range(20):
        assert player.advance(0.1) == 7.0
    sent = form.made["time [s]"].value
    assert sent == pytest.approx(7.0, abs=1e-3)
    assert sent != 7.0  # equal values are not sent
