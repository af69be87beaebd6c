"""How often intervals hold a truth that is known: for ``notebooks/bench_truth.ipynb``."""
