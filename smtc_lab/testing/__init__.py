"""Public builders and fakes for tests of smtc_lab and of what is built on it."""

from __future__ import annotations
