"""What a run has written down."""
