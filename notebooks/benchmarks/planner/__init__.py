"""Predictions of the planner against real runs: ``notebooks/bench_planner.ipynb``."""
