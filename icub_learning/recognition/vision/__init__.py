"""Decoding of images, and their features from a convolutional network."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # otherwise onnxruntime reports to its maker once imported
