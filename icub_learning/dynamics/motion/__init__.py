"""Motion of joints from their measured positions and velocities."""
