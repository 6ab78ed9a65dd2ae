"""A package outside this one: the classes of docs/how_to/bring_your_own.md, and classes that cannot be used."""

import re
import sys

HOSTILE = """
a_number = 3


def a_function(*arguments):
    return None


class Base:
    def predict(self, q, v, a): ...
    def update(self, q, v, a, y): ...
    def learn(self, x, label): ...
    def scores(self, x): ...
    def transform(self, image): ...
    def state(self): ...
    @classmethod
    def from_state(cls, state, regressor=None): ...


class Breaks(Base):
    def __init__(self, *arguments):
        raise ValueError("no such calibration file")


class TakesNothing(Base):
    def __init__(self): ...


class Lacking:
    def state(self): ...


class Locked(Base):
    def __init__(self, *arguments):
        import threading
        self.lock = threading.Lock()


class Several(Base):
    def transform(self, image):
        return image.mean(axis=2)
"""


def write_own_package(checkout, folder, monkeypatch):
    """Write my_package into a folder that is on sys.path until the end of the test; return the package's folder."""
    package = folder / "my_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    page = (checkout / "docs" / "how_to" / "bring_your_own.md").read_text()
    for name, code in re.findall(r"^```python\n# my_package/(\w+\.py)\n(.*?)^```", page, re.M | re.S):
        (package / name).write_text(code)
    (package / "hostile.py").write_text(HOSTILE)
    (package / "broken.py").write_text("import no_such_package_at_all\n")
    (package / "ending.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_package"]:
        monkeypatch.delitem(sys.modules, name)
    return package
