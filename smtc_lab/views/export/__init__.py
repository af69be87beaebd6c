"""Runs for other tools and other machines: MLflow, a table in a file, a zip."""
