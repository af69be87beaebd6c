"""What is kept of a comparison for people to read."""
