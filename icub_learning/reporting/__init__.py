"""Tables, JSON files and plots that commands, experiments and benchmarks share."""
