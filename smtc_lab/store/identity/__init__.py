"""What a run was made of: its source."""
