"""Reads folders whose files are hostile, as many as asked for; run by ``make fuzz``.

Which ones depends on the seed alone. The first one that breaks a reader is kept.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from tests.fuzz.folders_target import Folders

_MEMORY_BYTES = 2**30
_TELL_EVERY = 50_000


def main() -> None:
    """Read hostile folders; ends with an error at the first defect, and tells the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--views-every", type=int, default=200)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=_memory_disk()) as home:
        told = fuzz(Folders(Path(home), views_every=asked.views_every), asked)
    print(told)  # noqa: T201  this is what it is run for


def fuzz(target: Folders, asked: argparse.Namespace) -> str:
    """Read hostile files, and return the figures.

    Args:
        target: The folders whose files they take the place of.
        asked: How many ``inputs`` at most, in how many ``seconds``, which (``seed``), and where
            to ``keep`` a file that breaks a reader.

    Raises:
        Exception: A reader broke; its file is kept.
    """
    names = list(target.files)
    limit_memory()
    chance = random.Random(asked.seed)  # noqa: S311  no secret
    begin_s, slowest = time.monotonic(), (0.0, "")
    tried, taken = Counter[str](), Counter[str]()
    for number in range(asked.inputs):
        name = chance.choice(names)
        data = target.hostile(name, chance)
        at_s = time.monotonic()
        try:
            taken[name] += target.attack(name, data, number)
        except BaseException:
            asked.keep.mkdir(parents=True, exist_ok=True)
            (asked.keep / f"hostile-{Path(name).name}").write_bytes(data)
            told = f"Input {number} of seed {asked.seed}, {name}, breaks a reader."
            print(told, file=sys.stderr)  # noqa: T201  as above
            raise
        tried[name] += 1
        slowest = max(slowest, (time.monotonic() - at_s, name))
        if time.monotonic() - begin_s > asked.seconds:
            break
        if number % _TELL_EVERY == _TELL_EVERY - 1:
            print(f"{number + 1:,} inputs in {time.monotonic() - begin_s:.0f} s", flush=True)  # noqa: T201
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = [
        f"{name}: {count:,} tried, {taken[name]:,} read"
        for name, count in sorted(tried.items())
    ]
    lines.append(
        f"{tried.total():,} inputs in {time.monotonic() - begin_s:.0f} s, no defect; slowest "
        f"{slowest[0]:.2f} s ({slowest[1]}), peak memory {peak_mib:.0f} MiB"
    )
    return "\n".join(lines)


def limit_memory() -> None:
    """Let this process have a GiB more, for good: a hostile file takes more than it gives."""
    now_bytes = psutil.Process().memory_info().vms
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now_bytes + _MEMORY_BYTES, hard))


def _memory_disk() -> Path | None:
    """Return a folder in memory; None: there is none."""
    place = Path("/dev/shm")  # noqa: S108  made private by tempfile
    return place if place.is_dir() else None


if __name__ == "__main__":
    main()
