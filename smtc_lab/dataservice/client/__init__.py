"""The trainer's side: what is asked of whom, and what has come."""
