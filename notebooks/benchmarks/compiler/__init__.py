"""What each compiler brings, on ten models: ``notebooks/bench_compiler.ipynb``."""
