"""Data instances, and where they are too few trainers, sum the gradients of all trainers."""
