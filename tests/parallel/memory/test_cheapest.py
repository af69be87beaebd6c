"""What is said to fit trains, what is said not to fit does not, and what it costs adds up."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

import smtc_lab
from smtc_lab.catalog.accelerators import accelerator_speeds, published_utilization
from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import CatalogError, EntryPointError
from smtc_lab.parallel.memory.cheapest import cheapest_cluster
from smtc_lab.parallel.memory.memory import memory
from smtc_lab.parallel.memory.optimizer_bytes import ADAMW
from smtc_lab.parallel.memory.sizes import StepSizes
from smtc_lab.parallel.memory.trace import trace_step
from tests.parallel.memory.limited import Limited, which_train
from tests.parallel.memory.models import MODELS, Words, next_word

if TYPE_CHECKING:
    from smtc_lab.metrics.memory.cluster_offer import ClusterOffer
    from smtc_lab.metrics.memory.offers import ClusterOffers

GIB = 2**30
TINY = "ml.g4dn.xlarge"


def tiny(usable_bytes: float) -> Catalog:
    """Return a catalog in which one type's device can hold so much of a model."""
    known = Catalog.load().get(TINY)
    made = dataclasses.replace(known, accelerator_memory_gib=usable_bytes / 0.9 / GIB)
    return Catalog.load().with_types([made])


def on_tiny(name: str, usable_bytes: float) -> ClusterOffer:
    make, batch, loss_of = MODELS[name]
    model = make()
    found = cheapest_cluster(
        model,
        batch(),
        loss_of,
        optimizer=torch.optim.AdamW(model.parameters(), foreach=True),
        instance_types=[TINY],
        max_instances=1,
        catalog=tiny(usable_bytes),
    )
    return found.offers[0]


@functools.cache
def large() -> ClusterOffers:
    """Return offers for 7 billion parameters."""
    with torch.device("meta"):
        model = Words(50_000, 4096, 32).to(torch.bfloat16)
        words = torch.zeros(2, 1024, dtype=torch.long)
    return cheapest_cluster(model, (words, words), next_word, global_batch_size=256)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[] if each == "wide" else pytest.mark.soak) for each in MODELS],
)
def test_what_is_said_to_fit_trains_and_what_is_not_does_not(name: str) -> None:
    whole = on_tiny(name, 1e12)
    cases, said = [], []
    for share in (0.4, 0.7, 0.9, 1.15):
        limit = share * whole.peak_bytes
        offer = on_tiny(name, limit)
        cases.append(Limited(name, offer.batch_size, offer.accumulations, limit))
        said.append(offer.fits)
        if offer.fits and offer.accumulations > 1:  # the next larger batch was said not to fit
            cases.append(Limited(name, 2 * offer.batch_size, offer.accumulations // 2, limit))
            said.append(False)

    assert {*said} == {True, False}
    assert list(zip(cases, which_train(cases), strict=True)) == list(
        zip(cases, said, strict=True)
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_any_size_is_that_of_a_pass_of_it(name: str) -> None:
    make, batch, loss_of = MODELS[name]
    model, (inputs, targets) = make(), batch()
    samples = len(inputs)
    sizes = StepSizes(model, (inputs[:4], targets[:4]), loss_of, samples=4, taken=ADAMW)

    for wanted in (1, 2, samples):
        trace = trace_step(model, inputs[:wanted], targets[:wanted], loss_of)
        parts = sizes.at(wanted)
        assert parts.activation_bytes == pytest.approx(trace.activation_bytes, rel=0.01)
        for share in (0.0, 0.5, 1.0):
            expected = trace.peak_bytes(share)
            assert parts.computed_bytes(share) == pytest.approx(expected, rel=0.01)


def test_the_cheapest_comes_first_and_what_does_not_fit_last() -> None:
    found = large()
    fitting = [one for one in found.offers if one.fits]
    costs = [cost.mean for one in fitting if (cost := one.usd_per_step) is not None]
    short = [one.free_bytes for one in found.offers if not one.fits]

    assert found.cheapest == fitting[0] == found.offers[0]
    assert costs == sorted(costs)
    assert [one.fits for one in found.offers] == [True] * len(fitting) + [False] * len(short)
    assert short == sorted(short, reverse=True)
    assert short[0] < 0
    for one in found.offers:
        assert one.free_bytes == one.usable_bytes - one.peak_bytes
        assert one.devices == one.data * one.shard * one.pipeline * one.tensor
        if one.pipeline == 1:
            trainers = one.devices // one.tensor
            assert one.batch_size * one.accumulations * trainers == 256
        else:
            assert one.batch_size * one.data == 256
            assert one.batch_size % (one.microbatches or 0) == 0


def test_a_cost_is_price_times_time_and_says_that_it_is_estimated() -> None:
    found = large()
    offer = next(one for one in found.offers if one.strategy == "one device" and one.fits)
    step, cost = offer.step_s, offer.usd_per_1000_steps
    assert step is not None
    assert cost is not None
    speed = accelerator_speeds()[offer.accelerator].peak_flops_per_s("bf16")
    used = published_utilization("bf16", "products")

    assert step.mean == pytest.approx(
        256 * found.flops_per_sample / ((speed or 0.0) * used.median)
    )
    assert step.low < step.mean < step.high
    assert cost.mean == pytest.approx(1000 * step.mean * (offer.usd_per_hour or 0.0) / 3600)
    assert {step.evidence, cost.evidence, found.utilization.evidence} == {"estimated"}


def test_a_measured_utilization_leaves_the_network_alone_uncertain() -> None:
    make, batch, loss_of = MODELS["words"]
    found = cheapest_cluster(make(), batch(), loss_of, utilization=0.5)
    alone = next(one for one in found.offers if one.devices == 1 and one.step_s)
    shared = next(one for one in found.offers if one.strategy == "data" and one.step_s)

    assert alone.step_s is not None
    assert alone.step_s.low == alone.step_s.mean == alone.step_s.high
    assert shared.step_s is not None
    assert shared.step_s.low < shared.step_s.high


def test_what_nobody_published_is_unknown() -> None:
    make, batch, loss_of = MODELS["words"]
    found = cheapest_cluster(
        make(), batch(), loss_of, precision="bf16", instance_types=["ml.g5.12xlarge"]
    )

    assert found.offers
    assert {one.step_s for one in found.offers} == {None}
    assert "unknown per 1,000 steps" in found.advice[0]


def test_advice_is_in_the_order_of_aws() -> None:
    found = large()
    numbered = [one for one in found.advice if one[:2] in {"1.", "2.", "3."}]
    tried = [one.strategy for one in found.of_each_strategy()]

    assert found.advice[0].startswith(
        f"The cheapest that fits is 1 x {found.offers[0].instance_type}"
    )
    assert [one.split(":")[0].split(",")[0] for one in numbered] == [
        "1. Data parallel",
        "2. A smaller batch",
        "3. Model parallel",
    ]
    assert "NVIDIA T4 by" in numbered[2], "where a batch of 1 is too large"
    ranks = [("one device", "data", "shard", "tensor", "pipeline").index(one) for one in tried]
    assert [one for one in ranks if one > 1] == sorted(one for one in ranks if one > 1)
    assert {"shard", "pipeline", "tensor"} < {*tried}
    for sentence in found.advice:
        assert sentence in str(found)


def test_an_offer_goes_right_into_a_job() -> None:
    for one in large().of_each_strategy():
        job = one.job(entry_point="train.py")
        group = job.cluster.instance_groups[0]

        assert (group.instance_type, group.instance_count) == (
            one.instance_type,
            one.instance_count,
        )
        spread: Any = job.distribution
        if one.devices == 1:
            assert spread is None
        else:
            assert spread.data * spread.per_replica == one.devices
            assert spread.num_microbatches == (one.microbatches or 1)


def test_offers_go_through_json() -> None:
    make, batch, loss_of = MODELS["images"]
    found = cheapest_cluster(make(), batch(), loss_of, instance_types=["ml.g6.12xlarge"])
    told = found.as_dict()

    assert type(found).model_validate(told) == found
    assert told["offers"][0]["fits"] is True
    assert told["offers"][0]["usd_per_1000_steps"]["evidence"] == "estimated"
    assert smtc_lab.cheapest_cluster is cheapest_cluster


def test_memory_and_offers_say_the_same_of_one_device() -> None:
    make, batch, loss_of = MODELS["words"]
    model = make()
    optimizer = torch.optim.AdamW(model.parameters())
    needs = memory(model, batch(), loss_of, optimizer=optimizer, devices=())
    found = cheapest_cluster(model, batch(), loss_of, optimizer=optimizer)
    alone = next(one for one in found.offers if one.devices == 1)

    assert alone.peak_bytes == needs.strategies[0].peak_bytes


def test_a_model_without_known_blocks_has_no_tensor_parts() -> None:
    make, batch, loss_of = MODELS["images"]
    found = cheapest_cluster(make(), batch(), loss_of)

    assert {one.strategy for one in found.offers} == {
        "one device",
        "data",
        "shard",
        "pipeline",
    }


def test_nothing_that_fits_is_said_with_what_is_short_of_least() -> None:
    make, batch, loss_of = MODELS["wide"]
    found = cheapest_cluster(
        make(), batch(), loss_of, instance_types=[TINY], catalog=tiny(2**20), max_instances=1
    )

    assert found.cheapest is None
    assert found.advice[0].startswith(f"Nothing here fits. 1 x {TINY}")


def test_what_is_out_of_range_is_refused() -> None:
    model, loss_of = nn.Linear(4, 4), nn.functional.mse_loss
    batch = (torch.ones(2, 4), torch.ones(2, 4))

    for options, words in (
        ({"global_batch_size": 0}, r"global_batch_size=0 must be at least 1"),
        ({"utilization": 2.0}, r"utilization=2 must be above 0"),
        ({"precision": "int4"}, r"precision='int4' is not one of fp32"),
        ({"max_instances": 0}, r"max_instances=0 must be 1 to 64"),
        ({"instance_types": ["ml.c5.xlarge"]}, r"ml.c5.xlarge has no NVIDIA GPU"),
    ):
        given: Any = options
        with pytest.raises(EntryPointError, match=words):
            cheapest_cluster(model, batch, loss_of, **given)
    with pytest.raises(EntryPointError, match=r"the batch has no samples"):
        cheapest_cluster(model, (torch.ones(0, 4), torch.ones(0, 4)), loss_of)
    with pytest.raises(CatalogError, match=r"Instance type 'ml.p9' is not one of"):
        cheapest_cluster(model, batch, loss_of, instance_types=["ml.p9"])
