"""What a step's communication costs, from the times of its buckets of gradients.

A collective begins when the slowest rank is there. What goes on while gradients are still
computed is hidden; what is left when this rank's last bucket is ready is exposed. In that rest
no collective goes on while a rank is missing: that is a straggler's time, not the network's.
Of a sharded model a rank waits for each collective by itself, and computes in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, slots=True)
class CommunicationTime:
    """What the communication of one backward pass took, on one rank."""

    exposed_s: float
    """Time in which the rank had nothing but communication, in seconds."""

    hidden_s: float
    """Time of communication beside which gradients were computed, in seconds."""

    rank_wait_s: float
    """Time in which the rank waited for a slower one, in seconds."""


def communication_time(
    ready_s: NDArray[np.float64], here_s: NDArray[np.float64], end_s: NDArray[np.float64]
) -> CommunicationTime:
    """Return what the buckets of one backward pass took together.

    Args:
        ready_s: When each bucket was ready on this rank, shape (B,), B at least 1.
        here_s: When it was ready on every rank, shape (B,).
        end_s: When it was averaged, shape (B,), in order.
    """
    return total_time(*pass_times(ready_s, here_s, end_s))


def pass_times(
    ready_s: NDArray[np.float64], here_s: NDArray[np.float64], end_s: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the exposed and the hidden time of each bucket, and the wait for a slower rank.

    In seconds; arguments as of ``communication_time``.
    """
    exposed_s, hidden_s = bucket_times(ready_s, here_s, end_s)
    rest_s = float(end_s.max() - ready_s.max())
    return exposed_s, hidden_s, max(0.0, rest_s - float(exposed_s.sum()))


def total_time(
    exposed_s: NDArray[np.float64], hidden_s: NDArray[np.float64], rank_wait_s: float
) -> CommunicationTime:
    """Return what collectives took together, of which each is known."""
    return CommunicationTime(
        exposed_s=float(exposed_s.sum()),
        hidden_s=float(hidden_s.sum()),
        rank_wait_s=rank_wait_s,
    )


def bucket_times(
    ready_s: NDArray[np.float64], here_s: NDArray[np.float64], end_s: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exposed and the hidden time of each bucket in seconds, shapes (B,).

    A bucket's collective begins when every rank has it, and the one before it is over.
    """
    last_s = np.array([ready_s.max()])
    return _shared_out(_begins_s(ready_s, here_s, end_s), end_s, last_s, np.array([np.inf]))


def waited_times(
    blocked_s: NDArray[np.float64],
    ready_s: NDArray[np.float64],
    here_s: NDArray[np.float64],
    end_s: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return what collectives took that a rank waited for one by one.

    Args:
        blocked_s: From when the rank waited for each, shape (B,); infinite: it never did.
        ready_s: When each was ready on this rank, shape (B,).
        here_s: When it was ready on every rank, shape (B,).
        end_s: When it was over, shape (B,), in order.

    Returns:
        Exposed and hidden time of each in seconds, shapes (B,), and the time in which the rank
        waited for a slower one.
    """
    begin_s = _begins_s(ready_s, here_s, end_s)
    waits_from_s = np.minimum(blocked_s, end_s)
    exposed_s, hidden_s = _shared_out(begin_s, end_s, waits_from_s, end_s)
    waited_s = float((end_s - waits_from_s).sum())
    return exposed_s, hidden_s, max(0.0, waited_s - float(exposed_s.sum()))


def _begins_s(
    ready_s: NDArray[np.float64], here_s: NDArray[np.float64], end_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    before_s = np.concatenate([[-np.inf], np.maximum.accumulate(end_s)[:-1]])
    begin_s: NDArray[np.float64] = np.minimum(
        np.maximum(np.maximum(here_s, ready_s), before_s), end_s
    )
    return begin_s


def _shared_out(
    begin_s: NDArray[np.float64],
    end_s: NDArray[np.float64],
    waits_from_s: NDArray[np.float64],
    waits_until_s: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how long each collective goes on within some waits, and beside them."""
    from_s = np.maximum(begin_s[:, np.newaxis], waits_from_s)
    within_s = np.maximum(0.0, np.minimum(end_s[:, np.newaxis], waits_until_s) - from_s)
    exposed_s: NDArray[np.float64] = within_s.sum(axis=1)
    return exposed_s, np.maximum(0.0, end_s - begin_s - exposed_s)


def gradient_noise_scale(
    local_norm2: NDArray[np.float64],
    mean_norm2: NDArray[np.float64],
    *,
    batch_size: float,
    ranks: int,
) -> float | None:
    """Return the batch size at which noise and signal of the gradients are alike, in samples.

    Well below it larger batches need fewer steps in proportion; well above they bring little.

    Args:
        local_norm2: Mean over ranks of the squared norm of a rank's own gradients, shape (S,).
        mean_norm2: Squared norm of the averaged gradients, shape (S,).
        batch_size: Samples of one rank's batch.
        ranks: Trainers.

    Returns:
        None: one rank tells nothing, or the steps are too few to see the signal at all.

    Source:
        McCandlish et al., An Empirical Model of Large-Batch Training, 2018, appendix A.1,
        https://arxiv.org/abs/1812.06162
    """
    known = np.isfinite(local_norm2) & np.isfinite(mean_norm2)
    if ranks < 2 or not known.any():
        return None
    small, large = float(local_norm2[known].mean()), float(mean_norm2[known].mean())
    signal = (ranks * large - small) / (ranks - 1)
    noise = (small - large) * batch_size * ranks / (ranks - 1)
    return noise / signal if signal > 0 and noise >= 0 else None
