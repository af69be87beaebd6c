"""Batch sizes and the learning rates that go with them."""
