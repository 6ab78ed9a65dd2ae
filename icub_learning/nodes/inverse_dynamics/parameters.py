"""The parameters of the inverse dynamics node."""

from dataclasses import dataclass

from icub_learning.dynamics.settings import Settings
from icub_learning.nodes.common.model_keeper import ModelSettings
from icub_learning.nodes.common.spinning import LifecycleSettings
from icub_learning.nodes.common.threads.scheduling import SchedulingSettings
from icub_learning.nodes.common.timing import TimingLimits
from icub_learning.settings import setting, settings_of


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself, beside those of learning."""

    learning_share: float = setting(
        0.25, "share of what predicting leaves of a processor core that learning may use; where it is too small for all"
        " samples, those learned are spread evenly, and each counts for those left out; 1: all that there is", low=0.01,
        high=1.0,
    )  # fmt: skip
    learning_backlog: int = setting(50, "samples that may wait to be learned", low=1, high=100000)
    learning: bool = setting(True, "learn from the start; ~/set_learning switches it while the node runs", live=True)
    frame_id: str = setting("", "frame of published wrenches; empty: the sensor's link in the URDF")
    controller: str = setting(
        "", "node whose parameter `joints` names the learned joints where `joints` is empty, such as a controller's"
    )
    description_timeout: float = setting(
        10.0, "longest wait for robot_description (urdf: topic) and for the controller", unit="s", low=0.1, high=600.0
    )
    any_urdf: bool = setting(False, "take models of the same robot although they were learned with another URDF of it")
    report_period: float = setting(
        1.0, "period of ~/inertial_parameters and /diagnostics", unit="s", low=0.05, high=60.0
    )


PARAMETERS = settings_of(LifecycleSettings, Settings, NodeSettings, ModelSettings, TimingLimits, SchedulingSettings)
