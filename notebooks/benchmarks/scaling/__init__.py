"""What several ranks wait for: measured, declared, predicted, and the bound of it."""
