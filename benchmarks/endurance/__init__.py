"""Tests of what shows only after a long time or under abuse: soaks, kills, random messages and files, many updates."""
