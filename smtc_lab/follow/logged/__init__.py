"""What a script logs of its training, as live tables."""

from __future__ import annotations
