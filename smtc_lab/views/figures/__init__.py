"""Static figures of a comparison."""
