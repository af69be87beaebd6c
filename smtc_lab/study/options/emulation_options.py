"""The options of an emulation: declared device time and network, dilation, CPU speeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from smtc_lab.catalog.device_times import DeviceTimes
from smtc_lab.spec.emulation import EmulatedLink, Emulation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.cluster import Cluster
    from smtc_lab.study.options.job_options import Refusals

EMULATION_OPTIONS = {
    "--device-time": "device_time",
    "--link": "link",
    "--dilation": "dilation",
    "--scale": "scale",
    "--cpu-speed": "cpu_speeds",
}
"""Their names, and what click calls their values."""

LINK = click.option(
    "--link",
    metavar="inside=BANDWIDTH/LATENCY,between=…",
    help="Declared network between trainers, inside an instance and between instances: "
    "inside=10Gbit/20us,between=1Gbit/100us. between=catalog takes the rated bandwidth of the "
    "types.",
)
DEVICE_TIME = click.option(
    "--device-time",
    metavar="SECONDS",
    help="Seconds of one step on the real accelerator, which is emulated; of several kinds "
    "V100=0.03,A100=0.012. Time a few steps there, or take a published throughput: batch size "
    "over samples per second.",
)
_OPTIONS = (
    DEVICE_TIME,
    LINK,
    click.option(
        "--dilation",
        type=float,
        metavar="FACTOR",
        help="Seconds here for one second of the clusters. Default: the least that fits.",
    ),
    click.option(
        "--scale",
        type=float,
        metavar="CORES",
        help="Cores of this machine for one vCPU: an older way to give --dilation.",
    ),
    click.option(
        "--cpu-speed",
        "cpu_speeds",
        multiple=True,
        metavar="TYPE=FACTOR",
        help="Speed of one vCPU of a type or family, relative to ml.p3.2xlarge.",
    ),
    click.option(
        "--no-emulation",
        is_flag=True,
        help="Run every instance on this machine as it is, with no CPU quota.",
    ),
)


def EMULATION(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802  as click's own
    """Add the options of an emulation to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def emulations(
    options: dict[str, Any], clusters: Sequence[Cluster], catalog: Catalog, refusals: Refusals
) -> list[Emulation | None]:
    """Return the emulation of each cluster; this machine as it is has none.

    Args:
        options: What was typed.
        clusters: The clusters.
        catalog: Knows their accelerators.
        refusals: Takes what is wrong.
    """
    text, found = options["device_time"], None
    if text is not None and (times := refusals.tried(DeviceTimes.parse, text)) is not None:
        found = refusals.tried(times.on_each, clusters, catalog)
    shared = _shared(options, refusals)
    if shared is None or found is None:
        return [shared] * len(clusters)
    return [shared.model_copy(update={"device_step_time_s": each}) for each in found]


def _shared(options: dict[str, Any], refusals: Refusals) -> Emulation | None:
    """Return what all clusters have in common."""
    speeds = dict(
        filter(None, (refusals.tried(_speed, text) for text in options["cpu_speeds"]))
    )
    link = given_link(options["link"], refusals)
    if options["dilation"] is not None and options["scale"] is not None:
        refusals.problems.append("--dilation and --scale ask for the same. Give one of them.")
    if options["no_emulation"] or not options["clusters"]:
        return None
    made: Emulation | None = refusals.tried(
        Emulation,
        time_dilation=options["dilation"],
        cores_per_vcpu=options["scale"],
        link=link,
        relative_cpu_speed=speeds,
    )
    return made


def given_link(text: str | None, refusals: Refusals) -> EmulatedLink | None:
    """Return the network that ``--link`` declares; None: it is not given, or refused."""
    link: EmulatedLink | None = (
        None if text is None else refusals.tried(EmulatedLink.parse, text)
    )
    return link


def _speed(text: str) -> tuple[str, float]:
    name, _, factor = text.partition("=")
    try:
        return name, float(factor)
    except ValueError:
        raise ValueError(
            f"CPU speed {text!r} is not TYPE=FACTOR. Write for example c5=1.4."
        ) from None
