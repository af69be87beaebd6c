"""Which part of a bucket is summed where, and in which order it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from smtc_lab.metrics.communication.collectives import reducer_shares

CHUNK_BYTES = 128 * 1024
"""Longest chunk. Shorter ones cost more processor time; longer ones wait for each other."""

_ALIGNED_BYTES = 8


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a bucket that is summed as a whole."""

    number: int
    """Its number in the bucket."""

    server: int
    """Where it is summed: reducers are numbered first, then trainers."""

    begin: int
    """Its first byte."""

    end: int
    """The byte behind its last."""


@lru_cache(maxsize=256)
def chunks_of(num_bytes: int, *, ranks: int, reducers: int) -> tuple[Chunk, ...]:
    """Return the chunks of a bucket, the same on every rank, shares interleaved.

    Args:
        num_bytes: Size of the bucket, at least 1.
        ranks: Trainers.
        reducers: Data instances that reduce.
    """
    at_reducer, at_trainer = reducer_shares(ranks=ranks, reducers=reducers)
    shares = [at_reducer] * reducers + [at_trainer] * ranks
    sizes = _sizes(num_bytes, shares)
    counts = [-(-size // CHUNK_BYTES) for size in sizes]
    turns = sorted(
        ((place + 0.5) / count, server, place)
        for server, count in enumerate(counts)
        for place in range(count)
    )
    chunks, begin = [], 0
    for number, (_, server, place) in enumerate(turns):
        size = _part(sizes[server], counts[server], place)
        chunks.append(Chunk(number, server, begin, begin + size))
        begin += size
    return tuple(chunks)


def sending_order(chunks: tuple[Chunk, ...], *, rank: int, servers: int) -> list[Chunk]:
    """Return chunks in the order in which a rank sends them: in turns, from its own server on.

    At each moment ranks send to different servers, so that no way into one is crowded.
    """
    seen = [0] * servers
    counts = [0] * servers
    for chunk in chunks:
        counts[chunk.server] += 1
    keyed = []
    for chunk in chunks:
        progress = (seen[chunk.server] + 0.5) / counts[chunk.server]
        seen[chunk.server] += 1
        keyed.append((progress, (chunk.server - rank) % servers, chunk))
    return [chunk for _, _, chunk in sorted(keyed, key=lambda each: each[:2])]


def next_server(chunk: Chunk, lost: frozenset[int], *, ranks: int, reducers: int) -> int | None:
    """Return where a chunk goes when servers are lost; None: none is left.

    The answer depends on which are lost, and not on the order in which a rank heard of it.
    """
    others = [*_turned(range(reducers), chunk.number)]
    others += _turned(range(reducers, reducers + ranks), chunk.number)
    return next((each for each in (chunk.server, *others) if each not in lost), None)


def _turned(servers: range, by: int) -> list[int]:
    shift = by % len(servers) if servers else 0
    return [*servers[shift:], *servers[:shift]]


def _sizes(num_bytes: int, shares: list[float]) -> list[int]:
    """Return the bytes of each server, cut between whole numbers of any type."""
    ends, reached = [], 0.0
    for share in shares:
        reached += share
        aligned = round(reached * num_bytes / _ALIGNED_BYTES) * _ALIGNED_BYTES
        ends.append(min(num_bytes, aligned))
    ends[max(place for place, share in enumerate(shares) if share)] = num_bytes
    for place in range(1, len(ends)):
        ends[place] = max(ends[place], ends[place - 1])
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def _part(size: int, count: int, place: int) -> int:
    """Return the size of one of so many parts, all alike but for the alignment."""
    cut = [
        size if each == count else size * each // count // _ALIGNED_BYTES * _ALIGNED_BYTES
        for each in (place, place + 1)
    ]
    return cut[1] - cut[0]
