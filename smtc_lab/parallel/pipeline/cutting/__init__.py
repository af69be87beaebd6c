"""How a model is cut: one pass sees its modules, which become a sequence, which is cut best."""

from __future__ import annotations
