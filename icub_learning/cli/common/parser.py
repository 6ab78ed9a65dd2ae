"""Search for commands and experiments, and a parser of their arguments whose errors are one line."""

import argparse
import importlib
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

BAD_INPUT = 2  # exit code for bad input


def declared(package: str, prefix: str) -> dict[str, tuple[str, str]]:
    """Return module and summary of each command or experiment below a package, by its name.

    The docstrings of their modules begin with "`PREFIX NAME`: SUMMARY." They are read as text: no list waits for NumPy.
    """
    root = Path(__file__).parents[2]
    found: dict[str, tuple[str, str]] = {}
    for path in sorted((root / package).rglob("*.py")):
        with path.open(encoding="utf-8") as file:
            match = re.match(rf'"""`{prefix} (\S+)`: (.+)\.(\n|""")', file.readline())
        if match:
            module = ".".join([root.name, *path.relative_to(root).with_suffix("").parts])
            assert match[1] not in found, f"`{prefix} {match[1]}` is declared in {found[match[1]][0]} and in {module}"
            found[match[1]] = module, match[2]
    return dict(sorted(found.items()))


class CommandParser(argparse.ArgumentParser):
    """The parser of the command line, of a command, or of an experiment.

    `module` names the command's module, with DESCRIPTION, add_options(parser), run(args) and, where no `epilog` is
    given, EXAMPLE. It is imported when this parser parses, so that the help of other commands does not wait for it.
    Without it the caller adds all options.
    """

    def __init__(self, *args: Any, module: str | None = None, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **options)
        self._module = module

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as ArgumentParser does, after the options of the module have been added."""
        if self._module is not None:
            module, self._module = importlib.import_module(self._module), None
            lacking = [name for name in ("DESCRIPTION", "add_options", "run") if not hasattr(module, name)]
            if lacking and module.__name__ != "icub_learning.cli.reproduce":  # experiments run, it does not
                self.error(f"{module.__file__} lacks {', '.join(lacking)}; see CONTRIBUTING.md, How to add")
            self.description, self.epilog = module.DESCRIPTION, getattr(module, "EXAMPLE", self.epilog)
            self.set_defaults(run=getattr(module, "run", None))
            module.add_options(self)
        found, unknown = super().parse_known_args(args, namespace)
        for one in self._actions:
            if one.nargs == "*" and not one.option_strings:  # argparse leaves its words out that follow an option
                getattr(found, one.dest).extend(word for word in unknown if not word.startswith("-"))
                unknown = [word for word in unknown if word.startswith("-")]
        if unknown:  # reported here: the parser of all commands knows neither the options nor their help
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Exit with BAD_INPUT and one line: what is wrong, the known word that is nearest, and where help is."""
        word = re.search(r"(?:unrecognized arguments: |invalid choice: ')([^\s']+)", message)
        known = {str(each): each for one in self._actions for each in (*one.option_strings, *(one.choices or ()))}
        plain = [one for one in self._actions if not one.option_strings]
        known |= {f"--{one.dest}": f"{one.metavar or one.dest} without --{one.dest}" for one in plain}
        near = get_close_matches(word[1], known, 1) if word else []
        hint = f"; did you mean {known[near[0]]}?" if near else ""
        if message.startswith("unrecognized") and "--table" in known and word and word[1][0] != "-":
            hint = "; --table takes several recordings"
        self.exit(BAD_INPUT, f"{self.prog}: {message}{hint} (see {self.prog} --help)\n")
