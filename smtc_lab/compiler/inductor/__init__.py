"""Steps on Inductor: its settings, its cache, and what it says of what it compiled."""
