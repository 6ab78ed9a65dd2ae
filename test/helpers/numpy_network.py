"""EfficientNet-Lite0 in plain NumPy, layer by layer, nothing folded: the reference for the ONNX graph."""

import numpy as np

# Kernel size, stride, and whether it expands, of each block.
BLOCKS = (
    (3, 1, False), (3, 2, True), (3, 1, True), (5, 2, True), (5, 1, True), (3, 2, True), (3, 1, True), (3, 1, True),
    (5, 1, True), (5, 1, True), (5, 1, True), (5, 2, True), (5, 1, True), (5, 1, True), (5, 1, True), (3, 1, True),
)  # fmt: skip


def padded(x, kernel, stride):
    """Return (C, H, W) with zeros around it as TensorFlow's SAME puts them."""
    total = [max((-(-n // stride) - 1) * stride + kernel - n, 0) for n in x.shape[1:]]
    return np.pad(x, ((0, 0), *((t // 2, t - t // 2) for t in total)))


def patches(x, kernel, stride):
    """Return windows (C, H', W', kernel, kernel) of the padded input."""
    windows = np.lib.stride_tricks.sliding_window_view(padded(x, kernel, stride), (kernel, kernel), axis=(1, 2))
    return windows[:, ::stride, ::stride]


def normalized(x, weights, name):
    parts = ("running_mean", "running_var", "weight", "bias")
    mean, variance, scale, offset = (weights[f"{name}.{part}"].reshape(-1, 1, 1) for part in parts)
    return (x - mean) / np.sqrt(variance + 0.001) * scale + offset


def relu6(x):
    return np.minimum(np.maximum(x, 0.0), 6.0)


def pointwise(x, kernel):
    return np.tensordot(kernel[:, :, 0, 0], x, axes=1)


def forward(weights, image):
    """Return features and logits of a preprocessed image (H, W, 3), in float64."""
    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    x = np.moveaxis(image.astype(np.float64), 2, 0)
    x = np.einsum("chwij,ocij->ohw", patches(x, 3, 2), weights["_conv_stem.weight"], optimize=True)
    x = relu6(normalized(x, weights, "_bn0"))
    for index, (kernel, stride, expands) in enumerate(BLOCKS):
        name, before = f"_blocks.{index}", x
        if expands:
            x = relu6(normalized(pointwise(x, weights[f"{name}._expand_conv.weight"]), weights, f"{name}._bn0"))
        depthwise = weights[f"{name}._depthwise_conv.weight"][:, 0]
        x = np.einsum("chwij,cij->chw", patches(x, kernel, stride), depthwise, optimize=True)
        x = relu6(normalized(x, weights, f"{name}._bn1"))
        x = normalized(pointwise(x, weights[f"{name}._project_conv.weight"]), weights, f"{name}._bn2")
        if x.shape == before.shape:
            x = x + before
    features = relu6(normalized(pointwise(x, weights["_conv_head.weight"]), weights, "_bn1")).mean(axis=(1, 2))
    return features, weights["_fc.weight"] @ features + weights["_fc.bias"]
