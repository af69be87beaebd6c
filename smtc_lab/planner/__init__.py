"""Predict step time and cost of clusters, search among them, and say why."""

from __future__ import annotations
