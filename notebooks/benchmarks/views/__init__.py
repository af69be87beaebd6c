"""Measures the views in a real browser, beside other chart libraries."""

from __future__ import annotations
