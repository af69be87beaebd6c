"""What a step of a model would hold, seen in one pass that computes nothing."""
