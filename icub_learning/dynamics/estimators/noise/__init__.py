"""What is known of noise: of measurements, of predictions, and of outputs that share the parameters of a model."""
