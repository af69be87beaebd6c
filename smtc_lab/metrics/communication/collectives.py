"""How long trainers take to exchange gradients over wires of a known latency and bandwidth.

The alpha-beta model: a message of M bytes takes latency + M / bandwidth, and a card sends and
receives at the same time.
"""

from __future__ import annotations


def ring_all_reduce_s(
    num_bytes: float, *, ranks: int, latency_s: float, bytes_per_s: float
) -> float:
    """Return the time in which a ring of trainers sums so many bytes, in seconds."""
    return 2 * ring_gather_s(
        num_bytes, ranks=ranks, latency_s=latency_s, bytes_per_s=bytes_per_s
    )


def ring_gather_s(
    num_bytes: float, *, ranks: int, latency_s: float, bytes_per_s: float
) -> float:
    """Return the time of an all-gather or a reduce-scatter by a ring, in seconds.

    Args:
        num_bytes: Bytes of the whole, of which each rank has one part before or after.
        ranks: Trainers, at least 1.
        latency_s: Time of an empty message in seconds.
        bytes_per_s: Bandwidth of the slowest wire of the ring.
    """
    return (ranks - 1) * (latency_s + num_bytes / ranks / bytes_per_s)


def ring_sent_bytes(num_bytes: float, *, ranks: int, is_averaged: bool = False) -> float:
    """Return the bytes that each rank sends for one collective of a ring.

    Args:
        num_bytes: Bytes of the whole.
        ranks: Trainers, at least 1.
        is_averaged: Whether it is an all-reduce; else an all-gather or a reduce-scatter.
    """
    return (2 if is_averaged else 1) * (ranks - 1) / ranks * num_bytes


def sharded_bytes(parameter_bytes: float, *, ranks: int, gathered_once: float = 0.0) -> float:
    """Return the bytes that each rank of a fully sharded model sends in a step.

    Its parameters are gathered twice, for the forward and for the backward pass, and its
    gradients are averaged and scattered once.

    Args:
        parameter_bytes: Bytes of the model's parameters, as they are exchanged.
        ranks: Trainers that share one replica, at least 1.
        gathered_once: Bytes of those that stay gathered between the passes: FSDP2 keeps what
            the outermost module has by itself.
    """
    return ring_sent_bytes(3 * parameter_bytes - gathered_once, ranks=ranks)
