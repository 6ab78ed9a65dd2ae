"""From joint states to positions, velocities and accelerations at one instant."""
