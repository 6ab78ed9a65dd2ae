"""Objects in the hand of the simulated iCub: meshes, views, scenes and rendering."""
