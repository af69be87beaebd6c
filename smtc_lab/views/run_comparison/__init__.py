"""Runs that were never planned together, beside each other."""
