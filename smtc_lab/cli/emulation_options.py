"""The options of a scale model: declared device time, scale, relative CPU speeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.spec.emulation import Emulation

if TYPE_CHECKING:
    from smtc_lab.cli.job_options import Refusals

EMULATION_OPTIONS = {
    "--device-time": "device_time",
    "--scale": "scale",
    "--cpu-speed": "cpu_speeds",
}
"""Their names, and what click calls their values."""


def emulation(options: dict[str, Any], refusals: Refusals) -> Emulation | None:
    """Return the scale model of clusters; this machine as it is has none."""
    speeds = dict(
        filter(None, (refusals.tried(_speed, text) for text in options["cpu_speeds"]))
    )
    if options["no_emulation"] or not options["clusters"]:
        return None
    made: Emulation | None = refusals.tried(
        Emulation,
        cores_per_vcpu=options["scale"],
        device_step_time_s=options["device_time"],
        relative_cpu_speed=speeds,
    )
    return made


def _speed(text: str) -> tuple[str, float]:
    name, _, factor = text.partition("=")
    try:
        return name, float(factor)
    except ValueError:
        raise ValueError(
            f"CPU speed {text!r} is not TYPE=FACTOR. Write for example c5=1.4."
        ) from None
