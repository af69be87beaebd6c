"""Who prepares the samples of a training instance, and whether data workers are too few."""

from __future__ import annotations


def limiting_workers(workers: float | None, vcpus: float) -> int | None:
    """Return the data workers of a training instance where they are fewer than its vCPUs.

    More of them are then the first thing to try: they cost nothing.

    Args:
        workers: Its data workers; 0: trainers prepare their samples themselves. None: one for
            each vCPU.
        vcpus: Its vCPUs.

    Returns:
        None: its vCPUs limit what is prepared, not the number of data workers.
    """
    return None if workers is None or workers >= vcpus else int(workers)


def feeder_words(limiting: int | None, vcpus: float) -> str:
    """Return who prepares samples: ``2 data workers``, ``8 vCPUs``.

    Args:
        limiting: As ``limiting_workers`` returns it.
        vcpus: vCPUs of all training instances.
    """
    if limiting is None:
        return f"{vcpus:.0f} vCPUs"
    if limiting == 0:
        return "the trainers, which prepare their samples themselves,"
    return "1 data worker" if limiting == 1 else f"{limiting} data workers"


def more_workers_words(
    limiting: int, vcpus: float, *, of_script: int | None, devices: float
) -> str:
    """Return what to do so that every vCPU of a training instance prepares samples.

    Args:
        limiting: Its data workers, fewer than its vCPUs.
        vcpus: Its vCPUs.
        of_script: ``num_workers`` that the script gives its dataloader; None: the job decides.
        devices: Trainers of the instance, of which each has a dataloader.
    """
    if of_script is None:
        return f"Use {vcpus:.0f} data workers instead of {limiting}"
    return (
        f"Raise num_workers of the script's dataloader from {of_script} to "
        f"{vcpus / devices:.0f}"
    )
