"""What is right and what is wrong with the messages of a robot, found before anything is learned from them."""
