"""Commands that ask about a model before anything is launched."""
