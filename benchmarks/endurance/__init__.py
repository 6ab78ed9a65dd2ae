"""What only shows after long or under abuse: soaks, kills, random messages and files, many updates."""
