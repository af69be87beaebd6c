"""What the exchange of gradients takes: by a formula, and as it was timed."""
