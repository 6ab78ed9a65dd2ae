"""The command `icub-learning evaluate`."""
