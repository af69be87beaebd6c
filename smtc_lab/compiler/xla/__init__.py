"""Steps on XLA: what is moved there, traced, and held fast."""
