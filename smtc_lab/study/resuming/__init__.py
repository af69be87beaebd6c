"""Whether a script goes on after interruptions as if there had been none."""
