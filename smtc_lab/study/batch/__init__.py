"""The largest and the fastest batch, found by many launches."""
