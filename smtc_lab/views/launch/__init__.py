"""A launch before it begins."""
