"""Training fed by decoded images: torch's dataloader, ours, and ours with a data group.

A trainer with few cores for its GPU: a quarter of this machine's cores prepare batches in it.
The data group is a data server on the loopback interface with half of the cores more. torch's
dataloader with as many data workers as both shows what the network costs.
"""

from __future__ import annotations

import io
import secrets
import signal
import sys
import time
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data import Dataset

from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, forked_server
from notebooks.benchmarks.gpu.task import run_part
from notebooks.benchmarks.harness.rounds import in_turns
from notebooks.benchmarks.networks.models import workload
from smtc_lab.compiler.eager import EagerStep
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.serving.server import DataServer
from smtc_lab.machine.cores import available_cores
from smtc_lab.metrics.records.records import OWN_WORKERS
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from notebooks.benchmarks.gpu.task import Task
    from smtc_lab.metrics.records.records import LoaderRecord

Sample = tuple[torch.Tensor, int]

DATA_GROUP = "data group"
"""Name of the set-up whose batches come from a data server, too."""

_WARM_UP_S = 1.5
_MEASURED_S = 2.5
_MOST_ROUNDS = 11
_PHOTO = (800, 600)
_DIFFERENT_PHOTOS = 64
_MORE_THAN_ANYBODY_TAKES = 10**6


class Photos(Dataset[Sample]):
    """JPEG files in memory that are decoded, and augmented as contrastive learning does it.

    Some 7 ms of a core for an image of 224 pixels, so that a trainer's own cores do not keep
    a fast GPU busy.

    Args:
        size: Pixels of a side of the image that comes out.
        channels: 1 or 3.
    """

    def __init__(self, *, size: int, channels: int) -> None:
        self._size = size
        self._mode = "L" if channels == 1 else "RGB"
        self._files = [_photo(number) for number in range(_DIFFERENT_PHOTOS)]

    def __len__(self) -> int:
        return _MORE_THAN_ANYBODY_TAKES

    def __getitem__(self, index: int) -> Sample:
        """Return a normalized image, float32 of shape (channels, size, size), and its class."""
        image = Image.open(io.BytesIO(self._files[index % len(self._files)])).convert(
            self._mode
        )
        share, left, top = torch.rand(3).tolist()
        width, height = ((0.5 + 0.5 * share) * side for side in image.size)
        left, top = left * (image.width - width), top * (image.height - height)
        box = (left, top, left + width, top + height)
        side = (self._size, self._size)
        image = image.resize(side, Image.Resampling.BILINEAR, box=box)
        if share < 0.5:
            image = ImageOps.mirror(image)
        for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
            image = enhance(image).enhance(0.5 + share)
        image = image.filter(ImageFilter.GaussianBlur(1 + share))
        pixels = torch.from_numpy(np.array(image, dtype=np.float32)) / 128 - 1
        pixels = pixels.reshape(self._size, self._size, -1).permute(2, 0, 1)
        return pixels.contiguous(), index % 10


def _photo(number: int) -> bytes:
    rng = np.random.default_rng(number)
    coarse = rng.integers(0, 255, (19, 25, 3), dtype=np.uint8)
    file = io.BytesIO()
    smooth = np.asarray(Image.fromarray(coarse).resize(_PHOTO, Image.Resampling.BICUBIC))
    grain = rng.normal(0, 12, smooth.shape)
    pixels = np.clip(smooth + grain, 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return file.getvalue()


def measure_feeding(task: Task) -> None:
    """Add a row for each set-up in each round: samples for each second, and what was waited.

    ``step_s`` is the mean time of a step, from asking for its batch until the device is done;
    ``waiting_fraction`` the share of it in which the trainer had no batch (0-1);
    ``served_fraction`` the share of batches that came from the data server (0-1).
    """
    torch.set_num_threads(1)  # data workers and servers have the cores
    cores = int(available_cores())
    near, far = max(1, cores // 4), max(1, cores // 2)
    channels, side = (1, 28) if task.model == "mnist_cnn" else (3, 224)
    photos, secret = Photos(size=side, channels=channels), secrets.token_bytes(32)
    heard: list[LoaderRecord] = []
    options: dict[str, Any] = {
        "batch_size": task.batch_size,
        "pin_memory": task.device == "cuda",
    }
    ours = partial(DataLoader, photos, record=heard.append, **options)
    torchs = partial(TorchDataLoader, photos, **options)
    serve = partial(_serve, secret, far)
    with forked_server(serve) as address:  # before CUDA is used
        fed: dict[str, Any] = {
            "servers": [address],
            "secret": secret,
            "tls": False,
        }
        set_ups: dict[str, Callable[[], Any]] = {
            f"torch, {near} workers": partial(torchs, num_workers=near),
            f"ours, {near} workers": partial(ours, num_workers=near),
            DATA_GROUP: partial(ours, num_local_workers=near, **fed),
            f"torch, {near + far} workers": partial(torchs, num_workers=near + far),
        }
        _measure_rounds(task, set_ups, heard)


def _measure_rounds(
    task: Task, set_ups: Mapping[str, Callable[[], Any]], heard: list[LoaderRecord]
) -> None:
    made = workload(task.model, size=task.size, device=task.device)
    config = TrainingCompilerConfig(backend="eager", precision="bf16")
    step = EagerStep(made.train_step, made.model, made.optimizer, config=config)
    pace = 1.0 if task.device == "cuda" else 0.1  # a dry run proves nothing
    for number in range(_MOST_ROUNDS):
        began_s = time.perf_counter()
        for name in in_turns(list(set_ups), number):
            heard.clear()
            row: dict[str, Any] = _measured(set_ups[name](), step, pace)
            row["samples_per_s"] = task.batch_size / row["step_s"]
            if heard:
                served = sum(it.batches for it in heard if it.server != OWN_WORKERS)
                row["served_fraction"] = served / sum(it.batches for it in heard)
            task.add_row(set_up=name, round=number, **row)
        if task.left_s() < time.perf_counter() - began_s:
            return


def _measured(loader: Any, step: EagerStep, pace: float) -> dict[str, float]:  # noqa: ANN401  torch's or ours
    """Train from a new loader for some seconds, the first ones without being measured."""
    with ExitStack() as stack:
        if isinstance(loader, DataLoader):
            stack.enter_context(closing(loader))
        batches = iter(loader)
        _train(batches, step, pace * _WARM_UP_S)
        return _train(batches, step, pace * _MEASURED_S)


def _train(batches: Iterator[Any], step: EagerStep, seconds: float) -> dict[str, float]:
    began_s = now_s = time.perf_counter()
    waited_s, num_steps = 0.0, 0
    while now_s - began_s < seconds:
        batch = next(batches)
        waited_s += time.perf_counter() - now_s
        step(batch)
        step.wait()
        now_s = time.perf_counter()
        num_steps += 1
    took_s = now_s - began_s
    return {
        "num_steps": num_steps,
        "step_s": took_s / num_steps,
        "waiting_fraction": waited_s / took_s,
    }


def _serve(secret: bytes, num_data_workers: int, announce: Callable[[object], None]) -> None:
    server = DataServer(
        host=LOOPBACK,
        secret=secret,
        num_data_workers=num_data_workers,
        tls=False,
    )
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    announce(server.address)
    server.serve_forever()


if __name__ == "__main__":
    run_part(measure_feeding, sys.argv[1:])
