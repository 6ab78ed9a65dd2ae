"""Systems of processes that are started together: one table for the launch files and for `icub-learning launch`."""
