"""A plan of clusters, drawn and told."""
