"""The command `icub-learning model`."""
