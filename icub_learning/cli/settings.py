"""Command-line options derived from settings."""

import argparse
from collections.abc import Collection, Sequence
from typing import Any

from icub_learning.settings import Setting, settings_of


def add_settings(
    parser: argparse._ActionsContainer, groups: Sequence[type], leave_out: Collection[str] = (), given: bool = False
) -> None:
    """Add an option for each setting of dataclasses but those of `leave_out`; with `given`, its default is None."""
    for setting in settings_of(*groups):
        if setting.name not in leave_out:
            parser.add_argument("--" + setting.name.replace("_", "-"), **_option(setting, given))


def _option(setting: Setting, given: bool) -> dict[str, Any]:
    default = setting.default
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
    option: dict[str, Any] = {
        "default": None if given else default,
        "help": setting.meaning + (f" (default: {shown})" if shown != "" else ""),
    }
    if isinstance(default, bool):
        return option | {"action": argparse.BooleanOptionalAction}
    if setting.or_number:
        return option | {"type": _word_or_number, "metavar": "|".join((*setting.choices, "X"))}
    if setting.methods:
        return option | {"metavar": "|".join((*setting.choices, "CLASS"))}
    if setting.choices:
        return option | {"choices": tuple(setting.choices)}
    if isinstance(default, tuple):
        return option | {"nargs": "+", "metavar": "NAME", "type": type(default[0]) if default else str}
    return option | {"type": type(default), "metavar": "NAME" if isinstance(default, str) else "X"}


def _word_or_number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
