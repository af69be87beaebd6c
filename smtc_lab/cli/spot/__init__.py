"""Commands around interruptions."""
