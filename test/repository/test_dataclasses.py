"""Values do not change once they are made: dataclasses are frozen, but for those that are filled in."""

import pkgutil
from importlib import import_module

from sklearn.base import BaseEstimator

import icub_learning

# Dataclasses that are filled in step by step; scikit-learn, too, sets the settings of its estimators one by one.
CHANGING = {
    *("Attempt", "Counts", "DetectionLesson", "Event", "Frame", "KernelSettings", "Learner", "Lesson"),
    *("RecognizedView", "Sample", "State", "StateRecord", "StreamCounts"),
}


def test_values_are_frozen():
    names = [module.name for module in pkgutil.walk_packages(icub_learning.__path__, "icub_learning.")]
    # launching.description needs launch_ros.
    modules = [import_module(name) for name in names if not name.endswith(("launching.description", "__main__"))]
    found = {
        entry
        for module in modules
        for entry in vars(module).values()
        if isinstance(entry, type) and entry.__module__ == module.__name__ and "__dataclass_params__" in vars(entry)
    }
    assert len(found) > 150
    changing = {entry for entry in found if not entry.__dataclass_params__.frozen}
    assert {entry.__name__ for entry in changing if not issubclass(entry, BaseEstimator)} == CHANGING
