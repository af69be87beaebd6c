"""Runs found again: in what two differ, and those that nobody launched."""
