"""Data sets of the experiments: from --data, $ICUB_LEARNING_DATA or a package, which is fetched once."""
