"""Passes over a loader, in the trainer."""
