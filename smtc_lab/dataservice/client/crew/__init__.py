"""The data workers: how much each may hold, how quick each is, and when one is given up."""
