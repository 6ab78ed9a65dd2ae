"""OpenCV with a limit on the size of images, set before it is loaded: a small file can claim to hold a huge image."""

import os

os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(2**26))

import cv2

__all__ = ["cv2"]
