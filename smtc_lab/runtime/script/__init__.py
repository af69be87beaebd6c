"""How a script that knows nothing of this package is timed, fed and compiled."""
