"""The parameters of the object detection node."""

from dataclasses import dataclass

from icub_learning.detection.settings import OWN_BOXES, Settings
from icub_learning.nodes.common.image_subscription import ImageSettings
from icub_learning.nodes.common.model_keeper import ModelSettings
from icub_learning.nodes.common.spinning import LifecycleSettings
from icub_learning.settings import setting, settings_of


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself, beside those of detection."""

    box_source: str = setting(
        "motion",
        "where the box of an object comes from in a lesson that gives neither a source nor a box: motion, boxes, or a"
        " class of your own",
        choices=("motion", "boxes"),
        methods=OWN_BOXES,
    )
    collect_rate: float = setting(
        5.0, "images per second that are learned from during a lesson, at most", unit="Hz", low=0.1, high=100.0
    )
    min_frames: int = setting(5, "images that a lesson needs at least", low=1, high=10000)


PARAMETERS = settings_of(LifecycleSettings, Settings, NodeSettings, ImageSettings, ModelSettings)
