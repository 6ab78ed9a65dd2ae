"""Decoding of images, and their features from a convolutional network."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # or onnxruntime reports to its maker, from its import on
