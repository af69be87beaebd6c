"""How much may be asked of each data worker, and how long its answer may take. Pure.

Credits bound the memory on both sides: a data worker makes only what was asked, and a trainer
asks only within its window.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from smtc_lab.dataservice.client.epoch import Link, Request

LEAST_CREDITS = 2
MOST_CREDITS = 32

MAX_AHEAD_BYTES = 256 * 2**20
"""Memory that a window may take beyond the credits, for the sake of slow data workers."""

LEAST_PATIENCE_S = 0.2
"""No answer is late before this."""

_UNKNOWN_PATIENCE_S = 2.0
_PATIENCE_FACTOR = 4.0
_CREDIT_BYTES = 8 * 2**20
_CREDIT_S = 0.004
_MOST_WINDOWS = 8
_WIDENING_S = 0.002
_SLOW_FACTOR = 2.0
_CLEARLY_FACTOR = 1.25
_HEDGED_FRACTION = 0.1
_FREE_HEDGES = 2 * MOST_CREDITS


def shares(links: Sequence[Link], fixed: int | None, batch_bytes: int) -> list[int]:
    """Return how many requests each data worker may hold.

    A fast one gets enough to stay busy while messages travel, within 8 MiB for all. One that
    is much slower than another gets a single one: a request that waits behind another one there
    holds up its epoch.

    Args:
        links: The data workers.
        fixed: What the user wants; None: as described.
        batch_bytes: Size of the largest batch so far.
    """
    slow_s = _slow_from_s(links, _SLOW_FACTOR)
    in_memory = _CREDIT_BYTES // max(1, batch_bytes)
    most = min(in_memory, 2 * MOST_CREDITS) // max(1, len(links))
    return [_share(link, slow_s, min(most, MOST_CREDITS), fixed) for link in links]


def slower(links: Collection[Link]) -> set[Link]:
    """Return the data workers that take clearly longer for a batch than the quickest one."""
    limit_s = _slow_from_s(links, _CLEARLY_FACTOR)
    return {link for link in links if (link.mean_busy_s or 0.0) > limit_s}


def _slow_from_s(links: Collection[Link], factor: float) -> float:
    fastest_s = min((link.mean_busy_s for link in links if link.mean_busy_s), default=0.0)
    return max(factor * fastest_s, _CREDIT_S)


def first_for(slow: Link, quick: Collection[Link]) -> int:
    """Return how many queued requests others will have done before a slow data worker has one.

    What comes after them in the queue is done there first, also beside all that the others
    have yet to do.

    Args:
        slow: One of ``slower``.
        quick: The others; of at least one the time is known.
    """
    per_s = sum(1 / link.mean_busy_s for link in quick if link.mean_busy_s)
    held = sum(len(link.outstanding) for link in quick)
    done_s = (slow.mean_busy_s or 0.0) * (len(slow.outstanding) + 1)
    return max(0, math.floor(done_s * per_s) - held)


def _share(link: Link, slow_s: float, most: int, fixed: int | None) -> int:
    busy_s = link.mean_busy_s
    if busy_s is None:
        return fixed or 1  # whoever connects a moment later is to have the next one
    if busy_s > slow_s:
        return 1
    if fixed is not None:
        return fixed
    in_time = math.ceil(_CREDIT_S / max(busy_s, 1e-6))
    return max(LEAST_CREDITS, min(in_time, most))


def lump(busy_s: float | None, batch_bytes: int) -> int:
    """Return how many requests are worth to wake a data worker for: at most 4 ms of its work.

    Many data workers share the window's memory, which leaves few requests for each. Quick ones
    may hold a lump nevertheless: they are asked in turn, and the window bounds all of them.

    Args:
        busy_s: What it lately needed for a batch, in seconds; None: unknown.
        batch_bytes: Size of the largest batch so far.
    """
    if busy_s is None:
        return 0
    in_memory = _CREDIT_BYTES // max(1, batch_bytes)
    return min(math.ceil(_CREDIT_S / max(busy_s, 1e-6)), in_memory // 2, MOST_CREDITS // 2)


def window(
    links: Sequence[Link],
    shares: Sequence[int],
    batch_bytes: int,
    *,
    beginners: Collection[Link] = (),
) -> int:
    """Return how many batches of an epoch may be asked for and not delivered yet.

    This bounds the trainer's memory: the credits of all links, and one batch for each link that
    has come and waits for its turn. Where one data worker is much slower than the others, the
    window holds what those make meanwhile, so that they need not stop for it; within
    ``MAX_AHEAD_BYTES``. Where the slowest takes less than 2 ms, it is most likely just waiting
    for a processor, and to fetch more memory into the caches would cost more.

    Args:
        links: The data workers.
        shares: How many requests each of them may hold.
        batch_bytes: Size of the largest batch so far.
        beginners: Those who have made a single batch. It also took what it takes to begin, so
            it does not tell that they are slow.
    """
    num_links = max(1, len(links))
    least = max(sum(shares), LEAST_CREDITS) + num_links
    busy_s = [link.mean_busy_s for link in links if link.mean_busy_s and link not in beginners]
    if max(busy_s, default=0.0) < _WIDENING_S:
        return least
    made_meanwhile = max(busy_s) * sum(1 / one_s for one_s in busy_s)
    affordable = min(_MOST_WINDOWS * least, MAX_AHEAD_BYTES // max(1, batch_bytes))
    return max(least, min(math.ceil(made_meanwhile) + num_links, affordable))


def patience_s(request: Request, links: Sequence[Link]) -> float:
    """Return how long an answer may take before another data worker is asked, in seconds.

    Four times what the typical data worker needs for it and for what was asked of the same one
    before it; 2 s while that is unknown.
    """
    busy_s = sorted(link.mean_busy_s for link in links if link.mean_busy_s is not None)
    if not busy_s:
        return _UNKNOWN_PATIENCE_S
    # A stream that is asked for elsewhere begins anew there.
    least_s = LEAST_PATIENCE_S if request.stream is None else _UNKNOWN_PATIENCE_S
    ahead = list(request.links[-1].outstanding).index(request.number)
    return max(least_s, _PATIENCE_FACTOR * busy_s[len(busy_s) // 2] * (ahead + 1))


def hedges_allowed(answered: int) -> int:
    """Return how many requests may have been asked twice: a tenth, and some at the begin."""
    return _FREE_HEDGES + int(_HEDGED_FRACTION * answered)
