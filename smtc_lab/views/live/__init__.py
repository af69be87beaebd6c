"""What a browser is told while something happens, without knowing how it gets there."""

from __future__ import annotations
