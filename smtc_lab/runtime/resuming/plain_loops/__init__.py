"""A plain loop that saves nothing, followed from outside: its parts, passes and steps."""
