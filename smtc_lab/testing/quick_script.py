"""A training script whose steps take a moment, and that imports no torch."""

from __future__ import annotations

QUICK_SCRIPT = """\
import time
from smtc_lab.runtime.instance_runtime import instance_runtime
timer = instance_runtime().timer
print("begun", flush=True)
while not timer.is_done:
    timer.ask()
    time.sleep(0.002)
    timer.got(8)
    timer.end()
"""
"""Makes steps until it has made those that its job asks for."""
