"""What several widgets have in common: traits that Python fills, and what answers for them."""
