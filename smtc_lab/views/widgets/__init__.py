"""The views as widgets of a notebook."""

from __future__ import annotations
