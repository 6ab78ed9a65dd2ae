"""Systems of processes that are started together: one table, made into launch files and into `icub-learning launch`."""
