"""Scaling: what is predicted of several ranks, beside what is measured."""
