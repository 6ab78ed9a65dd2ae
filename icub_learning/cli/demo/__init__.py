"""The command `icub-learning demo`."""
