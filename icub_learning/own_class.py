"""Classes that a setting names by their import path, my_package.my_module.MyClass, in place of a shipped name."""

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

from icub_learning.errors import IcubLearningError, ParameterError, did_you_mean


def find_class(setting: str, path: str, methods: Sequence[str]) -> type[Any]:
    """Return the class at the path MODULE.CLASS, which is the value of a setting. Raises ParameterError: the module
    cannot be imported, or holds no class of that name with these methods."""
    module_name, _, name = path.rpartition(".")
    with running_own(setting, path, f"the import path of a class: {module_name!r} cannot be imported"):
        module = import_module(module_name)
    if not hasattr(module, name):
        hint = did_you_mean(name, [key for key, value in vars(module).items() if isinstance(value, type)])
        raise ParameterError(setting, path, f"a class: {module.__file__} has no {name!r}{hint}")
    found = getattr(module, name)
    if not isinstance(found, type):
        raise ParameterError(setting, path, f"a class, but it is a {type(found).__name__} in {module.__file__}")
    if lacking := [method for method in methods if not callable(getattr(found, method, None))]:
        raise ParameterError(setting, path, f"a class with the methods {', '.join(lacking)}, which it lacks")
    return found


@contextmanager
def running_own(setting: str, path: str, bound: str) -> Iterator[None]:
    """Raise ParameterError, with the line of code, for whatever the class at a path raises in this block; `bound` says
    what is accepted."""
    try:
        yield
    except IcubLearningError:
        raise
    except (Exception, SystemExit) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = "" if frame.filename.startswith("<") else f" in {frame.filename}, line {frame.lineno}"
        place += ": install its package, or put its folder on PYTHONPATH" if isinstance(error, ImportError) else ""
        raise ParameterError(setting, path, f"{bound} ({type(error).__name__}: {error}{place})") from error


class OwnClass:
    """Base of adapters that give a user's class, named by a setting, the interface that this package needs."""

    SETTING: ClassVar[str]  # name of the setting
    METHODS: ClassVar[tuple[str, ...]]  # names of the methods that the class must have
    path: ClassVar[str]  # import path of the user's class; set in the adapters that `of` makes
    kind: ClassVar[type[Any]]  # the user's class itself; set in the same adapters

    @classmethod
    @cache
    def of(cls, path: str) -> Any:
        """Return the adapter of the class at a path, the same one at each call. Raises ParameterError."""
        kind = find_class(cls.SETTING, path, cls.METHODS)
        return type(kind.__name__, (cls,), {"path": path, "kind": kind, "__doc__": kind.__doc__})

    @classmethod
    def made(cls, *arguments: Any) -> Any:
        """Return an object of the class. Raises ParameterError with what its constructor raised."""
        with running_own(cls.SETTING, cls.path, f"a class that can be made with {len(arguments)} argument(s)"):
            return cls.kind(*arguments)

    @classmethod
    def optional(cls, own: Any, method: str) -> Any:
        """Return a method that the class need not have. Raises ParameterError if `own` lacks it."""
        if (found := getattr(own, method, None)) is None:
            raise ParameterError(cls.SETTING, cls.path, f"a class with the method {method} for this, which it lacks")
        return found
