"""Training that is interrupted: what saves hold up, what is lost, and what was foretold."""
