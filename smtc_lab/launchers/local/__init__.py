"""Instances as process trees on this machine."""
