"""The command `icub-learning select-channels`."""
