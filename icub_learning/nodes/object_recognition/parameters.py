"""The parameters of the object recognition node, each with its meaning, unit and range."""

from icub_learning.nodes.common.parameters import ParameterSpec
from icub_learning.nodes.common.spinning import AUTOSTART
from icub_learning.recognition.assembly import Settings
from icub_learning.recognition.classifiers.kinds import KINDS

DEFAULTS = Settings()

PARAMETERS = (
    AUTOSTART,
    ParameterSpec(
        "classifier",
        DEFAULTS.classifier,
        "rlsc: regularized least squares with recoding; adaptive: the same, choosing both settings by itself; polk: a"
        " limited set of examples and a kernel",
        choices=tuple(KINDS),
        read_only=True,
    ),
    ParameterSpec(
        "regularization",
        DEFAULTS.regularization,
        "lambda, in squared units of the features (classifier: rlsc)",
        low=1e-12,
        high=1e12,
        read_only=True,
    ),
    ParameterSpec(
        "recoding",
        DEFAULTS.recoding,
        "how far objects with few examples are raised; 0: not at all, 1: in full (adaptive: until it chooses)",
        low=0.0,
        high=1.0,
        read_only=True,
    ),
    ParameterSpec(
        "length_scale",
        DEFAULTS.length_scale,
        "of the kernel, on features of unit length (classifier: polk)",
        low=1e-3,
        high=1e3,
        read_only=True,
    ),
    ParameterSpec(
        "step_size",
        DEFAULTS.step_size,
        "part by which the error of an example shrinks when it is learned (classifier: polk)",
        low=1e-6,
        high=1.0,
        read_only=True,
    ),
    ParameterSpec(
        "parsimony",
        DEFAULTS.parsimony,
        "the larger, the fewer examples are kept (classifier: polk)",
        low=0.0,
        high=1e3,
        read_only=True,
    ),
    ParameterSpec(
        "max_dictionary",
        DEFAULTS.max_dictionary,
        "most examples kept (classifier: polk)",
        low=1,
        high=5000,
        read_only=True,
    ),
    ParameterSpec(
        "smoothing_window",
        DEFAULTS.smoothing_window,
        "newest frames whose scores are averaged; 1: each frame for itself",
        low=1,
        high=1000,
        read_only=True,
    ),
    ParameterSpec(
        "max_age",
        DEFAULTS.max_age,
        "s; frames older than the newest by more take no part in the average",
        low=0.0,
        high=3600.0,
        read_only=True,
    ),
    ParameterSpec(
        "unknown_below", DEFAULTS.unknown_below, "confidence below which the label is 'unknown'", low=0.0, high=1.0
    ),
    ParameterSpec(
        "publish_rate",
        0.0,
        "Hz at which the newest recognition is published, again and again; 0: each one once",
        low=0.0,
        high=1000.0,
    ),
    ParameterSpec("report_period", 1.0, "s between /diagnostics", low=0.05, high=60.0, read_only=True),
)
