"""What the ranks of a pipeline compute, and what they wait for, from what they recorded."""
