"""What views say of a search of hyperparameters."""
