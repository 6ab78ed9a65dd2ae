"""What the page shows, as numbers and words: no ROS, no browser."""
