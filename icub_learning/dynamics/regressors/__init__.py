"""Rigid-body regressors of wrenches and joint torques, from a URDF."""
