"""The node that moves the joints of a robot in Gazebo along trajectories."""
