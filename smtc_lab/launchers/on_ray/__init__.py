"""The Ray launcher: every instance of a job is a node of a Ray cluster."""
