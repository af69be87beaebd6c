"""What the trials of a search would cost elsewhere: which model, on which machines."""
