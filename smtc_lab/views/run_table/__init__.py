"""The table of runs: what each is, took, cost and logged; chosen, filtered and sorted."""
