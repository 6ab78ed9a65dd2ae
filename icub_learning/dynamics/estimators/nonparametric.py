"""Inverse dynamics without rigid bodies, by random features or another nonparametric learner."""

from icub_learning.dynamics.estimators.aggregate.aggregated import AggregatedEstimator
from icub_learning.dynamics.estimators.configurable import ConfigurableEstimator
from icub_learning.dynamics.estimators.fixed_nonparametric import FixedNonparametricEstimator
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS, LearnerSettings, number_or_automatic


class NonparametricEstimator(ConfigurableEstimator):
    """Learns y as a function of (q, v, a) on random features, knowing nothing of rigid bodies: NP of the thesis (8.3).

    By default several length scales and regularizations are aggregated for each output by their recent errors, see
    AggregatedEstimator. With a number for length_scale or regularization, and with nystrom and polk, settings are
    fixed, see FixedNonparametricEstimator.

    Args:
        regressor: only its joints and outputs are used.
        n_random_features: number of random features, of all length scales together.
        length_scale: length scale of the Gaussian kernel on standardized inputs; None or "auto": several are weighed.
        regularization: lambda of the features; None or "auto": several are weighed.
        forgetting: in (0, 1]; weight of a sample after each further one (not of polk); "auto": 1, until errors show a
            change where several are weighed, see AdaptiveForgetting.
        n_warm_up, nonparametric, step_size, parsimony, max_dictionary: used with fixed settings only, see
            LearnerSettings.
        seed: seed of the random features.

    Attributes:
        method: the estimator that learns, aggregated or with fixed settings.

    Raises:
        ParameterError: an argument is outside its range.
    """

    _AGGREGATED, _RIGID_BODIES, _FIXED = "nonparametric_aggregate", False, FixedNonparametricEstimator

    def __init__(
        self,
        regressor: Regressor,
        n_random_features: int = DEFAULTS.n_random_features,
        length_scale: float | str | None = None,
        regularization: float | str | None = None,
        forgetting: float | str = DEFAULTS.forgetting,
        n_warm_up: int = DEFAULTS.n_warm_up,
        seed: int = DEFAULTS.seed,
        *,
        nonparametric: str = DEFAULTS.nonparametric,
        step_size: float = DEFAULTS.step_size,
        parsimony: float = DEFAULTS.parsimony,
        max_dictionary: int = DEFAULTS.max_dictionary,
    ) -> None:
        settings = LearnerSettings(
            nonparametric=nonparametric,
            n_random_features=n_random_features,
            length_scale=number_or_automatic(length_scale),
            nonparametric_regularization=number_or_automatic(regularization),
            forgetting=forgetting,
            n_warm_up=n_warm_up,
            seed=seed,
            step_size=step_size,
            parsimony=parsimony,
            max_dictionary=max_dictionary,
        )
        method: AggregatedEstimator | FixedNonparametricEstimator
        if settings.automatic:
            method = AggregatedEstimator(regressor, None, n_random_features, forgetting, seed)
        else:
            method = FixedNonparametricEstimator(regressor, settings.fixed())
        super().__init__(method)
