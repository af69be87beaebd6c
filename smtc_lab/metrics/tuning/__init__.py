"""What a search of hyperparameters found, out of its trials; pure."""
