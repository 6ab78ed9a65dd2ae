"""The stream that node and command line share: check, predict, pair measurements, learn."""
