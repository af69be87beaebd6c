"""Numbers and findings in words and tables."""
