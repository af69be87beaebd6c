"""What `notebooks/bench_tuning.ipynb` measures."""
