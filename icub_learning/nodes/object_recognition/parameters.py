"""The parameters of the object recognition node."""

from dataclasses import dataclass

from icub_learning.nodes.common.model_keeper import ModelSettings
from icub_learning.nodes.common.spinning import LifecycleSettings
from icub_learning.recognition.settings import Settings
from icub_learning.settings import setting, settings_of


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself, beside those of recognition."""

    publish_rate: float = setting(
        0.0,
        "rate at which the newest recognition is published repeatedly; 0: each recognition once",
        unit="Hz",
        low=0.0,
        high=1000.0,
        live=True,
    )
    report_period: float = setting(1.0, "period of /diagnostics", unit="s", low=0.05, high=60.0)


PARAMETERS = settings_of(LifecycleSettings, Settings, NodeSettings, ModelSettings)
