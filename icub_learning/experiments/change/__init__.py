"""What changes while a robot works, on simulated robots: loads, contacts, wear, and feed-forward control."""
