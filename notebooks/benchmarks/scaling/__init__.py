"""Several ranks: what their communication takes, beside a declaration, a bound, a ring, a prediction."""
