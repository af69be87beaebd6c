"""The streams of iterable-style datasets, as the client shares them out."""
