"""A recording as a state at any of its times; no ROS."""
