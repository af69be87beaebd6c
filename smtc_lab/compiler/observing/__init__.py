"""What can be seen of a step, whatever carries it out."""
