"""Measures the JupyterLab extension."""

from __future__ import annotations
