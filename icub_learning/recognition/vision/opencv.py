"""OpenCV, told before it is loaded how large a picture may be: a small file can claim to hold a huge one."""

import os

os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(2**26))

import cv2

__all__ = ["cv2"]
