"""Places that launchers are tried on: real processes behind each."""

from __future__ import annotations

from tests.kit.launch_sites.local import LocalSite
from tests.kit.launch_sites.ray import RaySite
from tests.kit.launch_sites.sagemaker import SageMakerSite

SITES = (LocalSite, RaySite, SageMakerSite)
"""The places of the launchers' contract test."""
