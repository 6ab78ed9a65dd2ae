"""The command `icub-learning tune`."""
