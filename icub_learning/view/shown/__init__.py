"""The data that the page shows, free of ROS and of the browser."""
