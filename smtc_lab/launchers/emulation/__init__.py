"""What of an emulated cluster is told to its instances: devices and links."""

from __future__ import annotations
