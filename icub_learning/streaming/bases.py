"""The base classes of river's estimators, or plain ones where river is not installed."""

try:
    from river.base import Classifier, MultiTargetRegressor, Regressor
except ModuleNotFoundError:

    class Regressor:  # type: ignore[no-redef]
        """Stands for river.base.Regressor."""

    class MultiTargetRegressor:  # type: ignore[no-redef]
        """Stands for river.base.MultiTargetRegressor."""

    class Classifier:  # type: ignore[no-redef]
        """Stands for river.base.Classifier."""


__all__ = ["Classifier", "MultiTargetRegressor", "Regressor"]
