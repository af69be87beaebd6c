"""Notebook cells that do what a form does."""
