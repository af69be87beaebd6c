"""What a training step holds in memory, told before it runs, and which devices have that."""
