"""What an instance is told: tree and variables that SageMaker shows to an entry point."""

from __future__ import annotations
