"""Places that launchers are tried on: real processes behind each."""

from __future__ import annotations

from smtc_lab.testing.launch_sites.local import LocalSite

SITES = (LocalSite,)
"""The places of the launchers' contract test."""
