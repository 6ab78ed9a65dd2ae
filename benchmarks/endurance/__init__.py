"""What only shows after long or under abuse: soaks, kills, fuzzed messages and files, many updates, saving meanwhile."""
