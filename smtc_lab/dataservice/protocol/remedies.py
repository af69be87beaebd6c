"""What to do, where several messages end the same way."""

from __future__ import annotations

SAME_VERSION = "Install the same version of smtc_lab on all instances."
