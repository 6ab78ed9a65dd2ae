"""The simulated arm of the iCub: physics, tasks, effects, sensors and recordings."""
