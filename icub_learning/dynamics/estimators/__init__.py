"""Parametric, nonparametric and semiparametric estimators of inverse dynamics."""
