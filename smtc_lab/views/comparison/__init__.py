"""What a comparison shows beside what any study does: ratios, verdict, figure."""

from __future__ import annotations
