"""What runs and comparisons both caution of."""
