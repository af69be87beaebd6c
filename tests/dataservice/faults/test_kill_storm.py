"""Training in a storm of faults ends bit-identical to training without any: F25."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.nn import functional

from smtc_lab.dataservice.dataloader import DataLoader
from tests.dataservice.faults.storm import Storm
from tests.dataservice.faults.trial import BATCH_SIZE, Noisy, order_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.proxy import Proxy
    from tests.dataservice.faults.trial import Trial

NUM_SAMPLES = 160
NUM_FAULTS = 8
LEARNING_RATE = 0.1
SEEDS_OF_EVERY_DAY = range(4)
SEEDS_OF_A_SOAK = range(4, 110)


class Model(torch.nn.Module):
    """Two layers, trained step by step to tell a sample's number from its noise."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
        )
        for weights in self.parameters():
            torch.nn.init.normal_(weights, std=0.3, generator=generator)

    def train_step(self, batch: Any) -> None:
        # No torch.optim: its first step imports torch's compiler, which takes seconds.
        ids, noise = batch
        loss = functional.mse_loss(self.layers(noise)[:, 0], ids / NUM_SAMPLES)
        weights = list(self.parameters())
        with torch.no_grad():
            for one, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                one.sub_(LEARNING_RATE * gradient)

    def weights(self) -> list[float]:
        return [one for weights in self.parameters() for one in weights.flatten().tolist()]


def trained_undisturbed(epochs: int) -> list[float]:
    dataset, model = Noisy(NUM_SAMPLES), Model()
    loader = DataLoader(dataset, BATCH_SIZE, sampler=order_of(dataset), seed=1)
    for _ in range(epochs):
        for batch in loader:
            model.train_step(batch)
    return model.weights()


def train_in_a_storm(
    seed: int,
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    proxied: Callable[..., Proxy],
) -> None:
    dataset, model = Noisy(NUM_SAMPLES, work_s=0.002), Model()
    options = {"tls": seed % 2 == 1}
    servers = [serve(name=f"algo-{number}", **options) for number in (2, 3)]
    names = {server.address: f"algo-{number}" for number, server in enumerate(servers, 2)}
    proxies = [proxied(server.address) for server in servers]
    addresses = [proxy.address for proxy in proxies]
    trial = begin(dataset, addresses, num_local_workers=1, num_credits=None, **options)

    def restart(server: RunningServer) -> RunningServer:
        address = server.address
        return serve(name=names[address], port=address.port, **options)

    with Storm(
        seed=seed,
        num_faults=NUM_FAULTS,
        servers=servers,
        restart=restart,
        proxies=proxies,
        local_pids=trial.local_pids,
    ) as storm:
        while storm.rages:
            for batch in trial.loader:
                trial.got.append(plain(batch))
                model.train_step(batch)
            trial.epochs += 1

    assert len(storm.faults) == NUM_FAULTS
    trial.judge()
    assert model.weights() == trained_undisturbed(trial.epochs)


@pytest.mark.parametrize("seed", SEEDS_OF_EVERY_DAY)
def test_training_in_a_storm_is_bit_identical_to_training_without(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    proxied: Callable[..., Proxy],
    seed: int,
) -> None:
    train_in_a_storm(seed, serve, begin, proxied)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS_OF_A_SOAK)
def test_training_in_many_storms_is_bit_identical_to_training_without(
    serve: Callable[..., RunningServer],
    begin: Callable[..., Trial],
    proxied: Callable[..., Proxy],
    seed: int,
) -> None:
    train_in_a_storm(seed, serve, begin, proxied)
