"""What controllers take from learned dynamics: feed-forward efforts along a trajectory, gravity compensation."""
