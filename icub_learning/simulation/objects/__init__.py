"""Objects before the simulated eye: meshes, views, scenes and rendering."""
