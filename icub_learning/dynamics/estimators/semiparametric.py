"""Inverse dynamics by a rigid-body model, and a nonparametric model of its residual."""

from icub_learning.dynamics.estimators.aggregate.aggregated import AggregatedEstimator
from icub_learning.dynamics.estimators.configurable import ConfigurableEstimator
from icub_learning.dynamics.estimators.fixed_semiparametric import FixedSemiparametricEstimator
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS, LearnerSettings, first_forgetting, number_or_automatic


class SemiparametricEstimator(ConfigurableEstimator):
    """Rigid bodies, and random features for what they leave.

    By default nothing about the features has to be chosen: P, NP and SP with several length scales and regularizations
    are aggregated for each output by their recent errors, see AggregatedEstimator. With a number for length_scale or
    nonparametric_regularization, and with nystrom and polk, it is the estimator of the thesis with fixed settings, see
    FixedSemiparametricEstimator.

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
        n_random_features: number of random features, of all length scales together.
        length_scale: length scale of the Gaussian kernel on standardized inputs; None or "auto": several are weighed.
        parametric_regularization, prior, output_weights, offset_forgetting: see ParametricEstimator.
        nonparametric_regularization: lambda of the features; None or "auto": several are weighed.
        forgetting: in (0, 1], of all parts (not of polk); "auto": 1 until errors show a change, see AdaptiveForgetting
            (with fixed settings for rigid bodies only).
        n_warm_up, nonparametric, step_size, parsimony, max_dictionary: used with fixed settings only, see
            LearnerSettings.
        residuals: used with fixed settings only, see FixedSemiparametricEstimator.
        seed: seed of the random features.

    Attributes:
        method: the estimator that learns, aggregated or with fixed settings.

    Raises:
        ParameterError: an argument is outside its range.
    """

    _AGGREGATED, _RIGID_BODIES, _FIXED = "semiparametric_aggregate", True, FixedSemiparametricEstimator

    def __init__(
        self,
        regressor: Regressor,
        n_random_features: int = DEFAULTS.n_random_features,
        length_scale: float | str | None = None,
        parametric_regularization: float = DEFAULTS.parametric_regularization,
        nonparametric_regularization: float | str | None = None,
        forgetting: float | str = DEFAULTS.forgetting,
        prior: str = DEFAULTS.prior,
        n_warm_up: int = DEFAULTS.n_warm_up,
        seed: int = DEFAULTS.seed,
        *,
        nonparametric: str = DEFAULTS.nonparametric,
        step_size: float = DEFAULTS.step_size,
        parsimony: float = DEFAULTS.parsimony,
        max_dictionary: int = DEFAULTS.max_dictionary,
        output_weights: str = DEFAULTS.output_weights,
        offset_forgetting: float = DEFAULTS.offset_forgetting,
        residuals: str = DEFAULTS.residuals,
    ) -> None:
        settings = LearnerSettings(
            nonparametric=nonparametric,
            n_random_features=n_random_features,
            length_scale=number_or_automatic(length_scale),
            nonparametric_regularization=number_or_automatic(nonparametric_regularization),
            forgetting=forgetting,
            n_warm_up=n_warm_up,
            seed=seed,
            step_size=step_size,
            parsimony=parsimony,
            max_dictionary=max_dictionary,
        )
        of_rigid = first_forgetting(forgetting) if settings.automatic else forgetting
        rigid = ParametricEstimator(
            regressor, parametric_regularization, of_rigid, prior, output_weights, offset_forgetting
        )
        method: AggregatedEstimator | FixedSemiparametricEstimator
        if settings.automatic:
            method = AggregatedEstimator(regressor, rigid, n_random_features, forgetting, seed)
        else:
            method = FixedSemiparametricEstimator(rigid, settings.fixed(), residuals)
        super().__init__(method)

    @property
    def parametric(self) -> ParametricEstimator:
        """The rigid-body part; its offsets are those without what `tare` added."""
        part: ParametricEstimator = self.method.parametric
        return part
