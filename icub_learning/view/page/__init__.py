"""The page, made with viser: a file for each part. No ROS: parts get a `State`, and call services through an `Ask`."""
