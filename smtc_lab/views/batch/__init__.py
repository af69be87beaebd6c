"""Batch sizes that were found, drawn and told."""
