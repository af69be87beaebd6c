"""How long a step takes on a cluster, from what was measured."""
