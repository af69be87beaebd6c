"""Where batches are made."""
