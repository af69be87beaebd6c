"""A run whose model is cut into the stages of a pipeline, as views are told of it."""
