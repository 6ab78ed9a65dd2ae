"""The node of the simulated iCub."""
