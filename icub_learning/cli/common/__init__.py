"""What several commands share: options, the parser, sources of images, parameter files."""
