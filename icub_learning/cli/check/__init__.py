"""The command `icub-learning check`."""
