"""Starts the entry points of an instance, with what they import imported once."""
