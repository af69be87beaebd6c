"""What a job may cost at worst."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.launchers.launcher import Order

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings

_PRICES_OF = "us-east-1"


def worst_case_usd(
    usd_per_hour: float | None, *, max_runtime_s: float, keep_alive_s: float
) -> float | None:
    """Return the most that the instances of a job can cost in USD; None: a price is unknown.

    That is the on-demand price of all instances for the longest run time, and for the time for
    which they are kept afterwards. Spot instances cost less. Storage, requests, logs and
    traffic come on top, and are not known here.
    """
    if usd_per_hour is None:
        return None
    return usd_per_hour * (max_runtime_s + keep_alive_s) / 3600


def order_of(plan: LaunchPlan, settings: SageMakerSettings) -> Order:
    """Return what a plan orders, by the worst case among its facts."""
    usd: float | None = plan.facts["worst_case_usd"]
    return Order(
        worst_case_usd=usd,
        words=_words(plan, settings, usd),
        refusal=_refusal(plan, settings, usd),
    )


def _words(plan: LaunchPlan, settings: SageMakerSettings, usd: float | None) -> str:
    count = len(plan.instances)
    instances = f"{count} instance{'s' if count > 1 else ''}"
    hours = f"{(plan.job.max_runtime_s + settings.keep_alive_s) / 3600:.4g} h"
    prices = "; ".join(plan.price_notes)
    elsewhere = (
        ""
        if settings.region == _PRICES_OF
        else f" These are prices of {_PRICES_OF}; other regions have their own."
    )
    if usd is None:
        return f"{instances} for at most {hours}, at a price that is not known ({prices})."
    spot = (
        " at the on-demand price, which spot instances stay below" * plan.job.use_spot_instances
    )
    return (
        f"at most ${usd:,.2f}: {instances} at ${plan.usd_per_hour:,.4g}/h{spot} for at most "
        f"{hours}, beside storage and traffic ({prices}).{elsewhere}"
    )


def _refusal(plan: LaunchPlan, settings: SageMakerSettings, usd: float | None) -> str:
    """Return why it could exceed ``max_usd``; empty: it cannot, or there is no limit."""
    if settings.max_usd is None or (usd is not None and usd <= settings.max_usd):
        return ""
    if usd is None:
        return (
            f"Nobody can say that it stays within max_usd={settings.max_usd:g}. Drop max_usd, "
            "or give the price with Catalog.with_prices."
        )
    return (
        f"That exceeds max_usd={settings.max_usd:g}. Lower max_runtime_s to "
        f"{_longest_s(plan, settings):.0f} s or less, choose cheaper instances, or raise "
        "max_usd."
    )


def _longest_s(plan: LaunchPlan, settings: SageMakerSettings) -> float:
    """Return the run time that the limit pays for, in seconds."""
    assert plan.usd_per_hour is not None  # noqa: S101  the worst case is known
    assert settings.max_usd is not None  # noqa: S101  there is a limit
    seconds = settings.max_usd / plan.usd_per_hour * 3600 - settings.keep_alive_s
    return max(0.0, seconds // 1)
