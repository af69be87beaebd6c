from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
import torch
from click.testing import CliRunner

from notebooks.benchmarks.dataservice import rounds
from notebooks.benchmarks.dataservice.__main__ import main
from notebooks.benchmarks.dataservice.chart import throughput_chart
from notebooks.benchmarks.dataservice.figures import (
    interference_figure,
    scale_figures,
    throughput_figures,
    tiny_figure,
)
from notebooks.benchmarks.dataservice.interference import measure_interference
from notebooks.benchmarks.dataservice.payloads import PAYLOADS, Payload, ReadyBatches
from notebooks.benchmarks.dataservice.peers import ray_store
from notebooks.benchmarks.dataservice.peers.known import COMPARED, PEERS, check_installed
from notebooks.benchmarks.dataservice.peers.peer import Peer, forked_server
from notebooks.benchmarks.dataservice.table import throughput_table
from notebooks.benchmarks.dataservice.throughput import Throughput, measure_throughput
from smtc_lab.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

SMALL = Payload(name="small", shape=(6, 1, 5, 7), dtype="uint8", num_distinct=3)
LIGHT = [peer.name for peer in COMPARED if not peer.modules] + ["ours_2_servers"]
HEAVY = [peer.name for peer in COMPARED if peer.modules]


def assert_delivers(peer: Peer, payload: Payload) -> None:
    with peer.deliver(payload) as batches:
        for number, (images, labels) in enumerate(itertools.islice(batches, 50)):
            assert labels.tolist() == [number] + [0] * (payload.num_labels - 1)
            expected = torch.full(payload.shape, payload.value(number))
            torch.testing.assert_close(images, expected.to(payload.torch_dtype))


@pytest.mark.parametrize("name", LIGHT)
def test_a_peer_delivers_each_batch_once_and_in_order(name: str) -> None:
    assert_delivers(PEERS[name], SMALL)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", HEAVY)
def test_a_peer_of_a_package_delivers_each_batch_once_and_in_order(name: str) -> None:
    missing = PEERS[name].missing()
    if missing is not None:
        pytest.skip(f"{missing} is not installed")

    # Its own process, because such libraries start threads that a forked server would miss.
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, __file__, name],
            capture_output=True,
            text=True,
            check=False,
            # Ray gives a node 30 s to be there. On a busy machine touching 2 GiB takes longer,
            # and sometimes all the rest does, too.
            env={**os.environ, "RAY_preallocate_plasma_memory": "0"},
        )
        if "The current node timed out during startup" not in ended.stderr:
            break

    assert ended.returncode == 0, ended.stderr


def test_the_payloads_have_the_sizes_that_they_are_known_for() -> None:
    sizes = {name: payload.num_bytes for name, payload in PAYLOADS.items()}

    assert sizes == {
        "tiny": 96,
        "a": 201_216,
        "b": 38_537_216,
        "c": 154_142_720,
    }
    images, labels = ReadyBatches(SMALL)[4]
    assert images.nbytes + labels.nbytes == SMALL.num_bytes


def test_a_missing_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)

    can_run, skipped = check_installed(["raw", "grpc"])

    assert can_run == ["raw"]
    assert skipped == [
        "Skipped grpc: grpc is not installed. Run: pip install 'smtc-lab[bench]'."
    ]


def test_a_module_of_a_missing_package_is_named() -> None:
    peer = Peer(name="new", deliver=PEERS["raw"].deliver, modules=("not_there.inside",))

    assert peer.missing() == "not_there.inside"


def test_without_names_all_compared_peers_are_looked_at() -> None:
    can_run, skipped = check_installed([])

    assert len(can_run) + len(skipped) == len(COMPARED)


@pytest.fixture
def _threads_as_before() -> Iterator[None]:
    number = torch.get_num_threads()
    yield
    torch.set_num_threads(number)


@pytest.mark.usefixtures("_threads_as_before")
def test_interference_compares_the_same_time_with_and_without_batches() -> None:
    lost = measure_interference(PEERS["raw"], SMALL, seconds=0.4, batches_per_s=100)

    assert lost.batches_per_s > 0
    assert lost.loss_percent == pytest.approx((1 - lost.beside_per_s / lost.alone_per_s) * 100)


def test_a_measurement_that_fails_is_left_out_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/ls")
    told: list[str] = []

    rows = rounds.rounds(
        "throughput", ["raw"], ["a"], repeats=2, on_failure=told.append, seconds=1
    )

    assert list(rows) == []
    assert len(told) == 2
    assert re.search(r"'peer': 'raw'.* exit code [12]: /bin/ls: ", told[0])


def test_a_measurement_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_LIMIT_S", 0.01)

    with pytest.raises(RunFailedError, match=r"'peer': 'raw'.* took more than 0.01 s"):
        rounds.measured("throughput", {"peer": "raw", "payload": "a", "seconds": 1})


@pytest.mark.usefixtures("_threads_as_before")
def test_a_peer_that_loses_a_batch_is_not_measured() -> None:
    @contextlib.contextmanager
    def lossy(payload: Payload) -> Iterator[Iterator[Any]]:
        batches = ReadyBatches(payload)
        yield (batches[number] for number in (0, 1, 3))

    peer = Peer(name="lossy", deliver=lossy)

    with pytest.raises(RunFailedError, match="Batch 3 came, but batch 2 was due"):
        measure_throughput(peer, SMALL, seconds=0.01)


def test_a_server_that_ends_before_it_is_ready_is_reported() -> None:
    def entered() -> AbstractContextManager[Any]:
        return forked_server(lambda _: None)

    with pytest.raises(RunFailedError, match="ended before it was ready"), entered():
        pass


def throughput(peer: str, payload: str = "b", **measured: float) -> dict[str, Any]:
    return {
        "round": 0,
        "peer": peer,
        "payload": payload,
        "num_batches": 5,
        "gb_per_s": 1.0,
        "batches_per_s": 10.0,
        "client_cpu_s_per_gb": 0.1,
        "server_cpu_s_per_gb": 0.2,
        "client_resident_bytes": 10**8,
    } | measured


def test_ratios_are_made_within_each_round() -> None:
    rows = [
        throughput("raw", round=0, batches_per_s=10),
        throughput("ours_tcp", round=0, batches_per_s=9),
        throughput("raw", round=1, batches_per_s=20),
        throughput("raw", round=2, batches_per_s=40),
        throughput("ours_tcp", round=2, batches_per_s=40),
        throughput("raw", round=3, batches_per_s=10),
        throughput("ours_tcp", round=3, batches_per_s=50),
    ]

    figures = {figure.name: figure for figure in throughput_figures(rows)}

    assert figures["throughput of ours_tcp, payload b"].value == pytest.approx(1)
    assert figures["throughput of ours_tcp, payload b"].holds
    assert figures["client CPU of ours_tcp, payload b"].goal == 0.12
    assert figures["client CPU of raw, payload b"].goal is None
    assert len(figures) == 3


def test_many_servers_are_compared_with_one() -> None:
    rows = [
        throughput("ours_1_servers", "a", batches_per_s=10),
        throughput(
            "ours_8_servers", "a", batches_per_s=8, client_resident_bytes=10**8 + 7 * 10**6
        ),
    ]

    loss, memory = scale_figures(rows, servers=[1, 8], payload="a")

    assert (loss.value, loss.holds) == (pytest.approx(20), False)
    assert memory.value == pytest.approx(1)


def losses(*, raw: list[float], ours: list[float]) -> list[dict[str, Any]]:
    return [
        {"round": number, "peer": peer, "payload": "b", "loss_percent": loss}
        for peer, values in (("raw", raw), ("ours_tcp", ours))
        for number, loss in enumerate(values)
    ]


def test_the_interference_of_bare_sockets_is_taken_off() -> None:
    rows = losses(raw=[7.0, 1.0, 3.0], ours=[9.5, 41.0, 4.0])

    assert interference_figure(rows, payload="b").value == pytest.approx(2.5)


def test_interference_below_that_of_bare_sockets_is_none_and_no_gain() -> None:
    figure = interference_figure(losses(raw=[7.0], ours=[2.0]), payload="b")

    assert (figure.value, figure.holds) == (0, True)
    assert "0: none seen" in figure.name


def test_a_round_that_measured_one_side_only_does_not_count() -> None:
    rows = losses(raw=[7.0, 1.0], ours=[9.0])

    assert interference_figure(rows, payload="b").value == pytest.approx(2)


def test_tiny_batches_are_counted_for_each_second() -> None:
    figure = tiny_figure([throughput("ours_tcp", "tiny", batches_per_s=12_000)])

    assert (figure.value, figure.holds) == (12_000, True)


def test_the_table_shows_medians_and_the_ratio_to_the_first_peer() -> None:
    rows = [throughput("raw", gb_per_s=rate, batches_per_s=rate) for rate in (1, 2, 9)]
    rows += [throughput("ours_tcp", gb_per_s=rate, batches_per_s=rate) for rate in (1, 4, 9)]

    title, raw, ours = throughput_table(rows).splitlines()

    assert title.split()[:3] == ["payload", "peer", "GB/s"]
    assert raw.split() == ["b", "raw", "2", "2", "0.1", "0.2", "1"]
    assert ours.split()[:3] == ["b", "ours_tcp", "4"]


def test_the_chart_has_a_panel_for_each_payload_and_a_bar_for_each_peer() -> None:
    rows = [throughput(peer, payload) for payload in "ab" for peer in ("raw", "ours_tcp")]

    figure = throughput_chart(rows)

    assert [axes.get_xlabel() for axes in figure.axes] == [
        "payload a, GB/s",
        "payload b, GB/s",
    ]
    assert [len(axes.patches) for axes in figure.axes] == [2, 2]


def test_the_command_measures_in_fresh_processes_and_prints_the_table() -> None:
    command = ["raw", "--payload", "a", "--repeats", "1", "--seconds", "0.02", "--rows"]

    result = CliRunner().invoke(main, command, catch_exceptions=False)

    row = json.loads(result.output.splitlines()[0])
    assert (row["round"], row["peer"], row["payload"]) == (0, "raw", "a")
    assert set(row) == {"round", *(field.name for field in fields(Throughput))}
    assert row["num_batches"] >= 5
    assert row["gb_per_s"] == pytest.approx(
        row["batches_per_s"] * PAYLOADS["a"].num_bytes / 1e9
    )
    assert row["client_cpu_s_per_gb"] > 0
    assert row["server_cpu_s_per_gb"] > 0
    assert row["client_resident_bytes"] > PAYLOADS["a"].num_bytes
    assert len(result.output.splitlines()) == 3


if __name__ == "__main__":
    # Ray touches all the memory of its stores before it delivers, and gigabytes take seconds.
    ray_store._NODE["object_store_memory"] = 2**27
    assert_delivers(PEERS[sys.argv[1]], SMALL)
