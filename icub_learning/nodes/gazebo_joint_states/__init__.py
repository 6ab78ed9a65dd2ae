"""The node that passes joint states of Gazebo on at the rate that learning takes."""
