"""What is found when clusters are compared."""
