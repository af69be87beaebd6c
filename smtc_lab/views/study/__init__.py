"""Any study, as views see it; ``kind.StudyKind`` is what a new kind begins with."""

from __future__ import annotations
