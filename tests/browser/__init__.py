"""What users see, in a real browser."""
