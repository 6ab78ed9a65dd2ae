"""What changes while a robot works: a load in the hand, a contact, wear; and parameters of possible bodies."""
