"""Watches an unmodified script for what it resumes from, and for proofs that it does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from smtc_lab.instance.variables import FINGERPRINTS_VARIABLE, RESUME_VARIABLE

if TYPE_CHECKING:
    from smtc_lab.runtime.instance_runtime import InstanceRuntime


def watch_attempts(runtime: InstanceRuntime) -> None:
    """Note what a script loads that was interrupted, and fingerprints where they are asked."""
    if runtime.attempt > 1:
        from smtc_lab.runtime.resuming.restored import Restored  # noqa: PLC0415  others do without

        restored = Restored(runtime.context)
        runtime.restored_step = lambda: restored.step
    if RESUME_VARIABLE in os.environ:
        from smtc_lab.runtime.resuming.plain_loops.automatic import AutomaticResume  # noqa: PLC0415  as above

        AutomaticResume(runtime, runtime.restored_step)
    if FINGERPRINTS_VARIABLE in os.environ:
        from smtc_lab.runtime.resuming.fingerprints import (  # noqa: PLC0415  as above
            take_fingerprints,
        )

        take_fingerprints(runtime)
