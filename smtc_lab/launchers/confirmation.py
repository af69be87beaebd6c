"""The word that a launch may order what is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from smtc_lab.errors import LauncherError

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import LaunchPlan, Order

Confirmation = bool | Literal["price unknown"]
"""What the user said to the cost: nothing, yes, or yes although it is not known."""

UNKNOWN: Final = "price unknown"
"""What ``confirm`` must be where a price is not known."""


def confirmation_of(order: Order) -> Confirmation:
    """Return what somebody says who has read the words of an order and agrees."""
    return UNKNOWN if order.worst_case_usd is None else True


def require_confirmation(plan: LaunchPlan, *, confirm: Confirmation = False) -> None:
    """Let a launch pass that orders nothing, or whose cost was confirmed and is within limits.

    Raises:
        LauncherError: It was not, or is not; says the sum, its prices and what to write.
    """
    order = plan.order
    if order is None:
        return
    subject = f"Job {plan.job.job_name!r} costs {order.words}"
    if order.refusal:
        raise LauncherError(f"{subject} {order.refusal}")
    if order.worst_case_usd is None and confirm != UNKNOWN:
        raise LauncherError(
            f"{subject} Pass confirm={UNKNOWN!r} to start it all the same, or give the price "
            "with Catalog.with_prices."
        )
    if not confirm:
        raise LauncherError(f"{subject} Pass confirm=True to start it, or lower max_runtime_s.")
