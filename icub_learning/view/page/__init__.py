"""The page: one file for each part of it, on viser. No ROS: parts are given a `State`, and ask through `Ask`."""
