"""What holds for all tests."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    # A shell starts what runs behind "&" with Ctrl-C ignored, and every process that a test
    # starts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
