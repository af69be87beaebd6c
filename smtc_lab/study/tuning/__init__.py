"""Searches hyperparameters: asks a sampler, trains trials, and keeps all of it on disk."""
