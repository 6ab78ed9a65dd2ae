"""The experiments of the sources, each beside its published figures."""
