"""What a data server does with the loaders that trainers send: it opens each once, or says why.

The datasets here are what is sent, so what they tell of themselves they leave in files.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pytest
import torch
import torch.distributed
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data import Dataset

from smtc_lab.dataservice.client import remote
from smtc_lab.dataservice.client.statistics import LOCAL
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.protocol.handshake import asked_for, greet, prove_to_server
from smtc_lab.dataservice.protocol.messages import Hello
from smtc_lab.dataservice.protocol.receiver import receive_one
from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.dataservice.recipe import opening
from smtc_lab.dataservice.recipe.asking import asker_here
from smtc_lab.dataservice.recipe.packing import Recipe, packed
from smtc_lab.dataservice.serving import house
from smtc_lab.dataservice.source import source_of
from smtc_lab.errors import HandshakeError, SampleError
from tests.dataservice.killing import kill
from tests.kit.runs import PATIENCE_S
from tests.kit.wire import RawPeer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.metrics.records.records import LoaderRecord
    from tests.dataservice.conftest import RunningServer

pytestmark = pytest.mark.usefixtures("unhurried")
COUNT, SIZE = 40, 4
LARGE_BYTES = 200_000_000


class Numbers(Dataset[Any]):
    """Its samples tell their number and the epoch."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.epoch = 0

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> int:
        return 1000 * self.epoch + index


class Marking(Numbers):
    """Says in a file that it was opened."""

    def __init__(self, mark: Path) -> None:
        super().__init__()
        self.mark = mark

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.mark.touch()


class Unopened(Numbers):
    """Cannot be opened."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        raise ValueError("there is no index of it here")


class Deadly(Numbers):
    """Ends the process that opens it."""

    def __init__(self, how: Callable[[], object]) -> None:
        super().__init__()
        self.how = how

    def __setstate__(self, state: dict[str, Any]) -> None:
        state["how"]()


class Slow(Numbers):
    """Takes until somebody writes into a pipe to be opened."""

    def __init__(self, pipe: Path) -> None:
        super().__init__()
        self.pipe = pipe

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.pipe.read_bytes()


class Large(Numbers):
    def __init__(self, nbytes: int = LARGE_BYTES) -> None:
        super().__init__()
        self.memory = torch.zeros(nbytes, dtype=torch.uint8)

    def __getitem__(self, index: int) -> int:
        return index + int(self.memory[index])


class Ranked(Numbers):
    """Its samples tell the rank of whoever asks for them."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.opened_by = int(os.environ["RANK"])
        # as a module does that is imported there
        from torch.distributed import get_rank, get_world_size

        self.of_group = get_rank, get_world_size

    def __getitem__(self, index: int) -> Any:
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
        in_group = [ask() for ask in self.of_group]
        return [self.opened_by, *(int(os.environ[name]) for name in names), *in_group]


class Reducing(Numbers):
    def __getitem__(self, index: int) -> int:
        torch.distributed.all_reduce(torch.ones(1))
        return index


class Reading(Numbers):
    """Holds an open file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        path.write_bytes(bytes(range(COUNT)))
        self.file = path.open("rb")

    def __getitem__(self, index: int) -> int:
        return os.pread(self.file.fileno(), 1, index)[0]


@dataclass
class Fed:
    """A loader that servers feed, and what it tells."""

    loader: DataLoader[Any]
    events: list[str]
    records: list[LoaderRecord]

    def samples(self) -> list[int]:
        return [sample for batch in self.loader for sample in batch.tolist()]

    def has_batches_of(self, server: str) -> bool:
        return any(record.batches for record in self.records if record.server == server)

    def makers(self) -> set[str]:
        """Return who made the batches that came; it is the last thing that is asked."""
        self.loader.close()
        return {record.server for record in self.records if record.batches}


@pytest.fixture
def feed(secret: bytes) -> Iterator[Callable[..., Fed]]:
    """Make loaders that only data servers feed; all are closed."""
    made: list[Fed] = []

    def make(dataset: Any, *servers: RunningServer, **options: Any) -> Fed:
        events: list[str] = []
        records: list[LoaderRecord] = []
        options = {"num_workers": 1, "num_local_workers": 0} | options
        loader = DataLoader(
            dataset,
            SIZE,
            servers=[server.address for server in servers],
            secret=secret,
            notify=events.append,
            record=records.append,
            **options,
        )
        made.append(Fed(loader, events, records))
        return made[-1]

    yield make
    for fed in made:
        fed.loader.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Recipe]:
    """The recipes that this process has sent, one by one."""
    recipes: list[Recipe] = []
    message = Recipe.message

    def noted(recipe: Recipe) -> list[memoryview]:
        recipes.append(recipe)
        return message(recipe)

    monkeypatch.setattr(Recipe, "message", noted)
    return recipes


ALL = [*range(COUNT)]


# Recipes that cannot be opened


def test_what_cannot_be_opened_is_made_by_the_trainer_and_told_once(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed]
) -> None:
    fed = feed(Unopened(), serve(), serve(name="algo-3"))

    assert [fed.samples(), fed.samples()] == [ALL, ALL]

    (event,) = fed.events
    assert "cannot be opened there (ValueError: there is no index of it here)" in event
    assert event.startswith("The loader over Unopened is prepared by this trainer, since ")
    assert fed.makers() == {LOCAL}


def test_a_class_whose_module_only_the_trainer_has_is_named(
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
) -> None:
    server = serve()
    module = ModuleType("only_here")
    made = type("Numbers", (Numbers,), {"__module__": module.__name__})
    module.Numbers = made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    fed = feed(made(), server)

    assert fed.samples() == ALL

    (event,) = fed.events
    assert "No module named 'only_here'" in event
    assert "Bring the modules that they come from to all instances" in event


@pytest.mark.parametrize(
    "how",
    [lambda: os._exit(3), lambda: os.kill(os.getpid(), signal.SIGKILL), sys.exit],
    ids=["exit", "signal", "SystemExit"],
)
def test_what_ends_its_process_is_refused_soon_and_harms_no_other_loader(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], how: Callable[[], object]
) -> None:
    server = serve()
    fed, other = feed(Deadly(how), server), feed(Numbers(), server)
    others = iter(other.loader)
    assert next(others).tolist() == ALL[:SIZE]

    assert fed.samples() == ALL

    crashes = [server.next_event() for _ in range(2)]
    assert all("while it opened what a loader needs" in crash for crash in crashes)
    (event,) = fed.events
    assert "to open its parts has ended 2 processes there" in event
    assert [sample for batch in others for sample in batch.tolist()] == ALL[SIZE:]
    assert feed(Numbers("another one"), server).samples() == ALL
    assert not server.events.poll(0)
    assert other.events == []


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_SLOW_S", 0.01)


@pytest.mark.usefixtures("impatient")
def test_while_a_server_is_slow_to_open_it_the_trainer_makes_batches(
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    eventually: Callable[..., None],
    pipe: Path,
) -> None:
    fed = feed(Slow(pipe), serve())

    assert fed.samples() == ALL

    (event,) = fed.events
    assert "has not opened what a loader needs" in event
    assert "this trainer makes batches meanwhile" in event
    pipe.write_bytes(b"now")
    eventually(lambda: fed.samples() == ALL and fed.has_batches_of("algo-2"))
    assert fed.makers() == {LOCAL, "algo-2"}


@pytest.mark.usefixtures("impatient")
def test_so_does_one_that_waits_for_what_another_one_has_sent(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], pipe: Path
) -> None:
    server = serve()
    first, second = feed(Slow(pipe), server), feed(Slow(pipe), server)

    assert [first.samples(), second.samples()] == [ALL, ALL]

    assert [len(fed.events) for fed in (first, second)] == [1, 1]
    pipe.write_bytes(b"now")


@pytest.fixture
def half_sent(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[..., RunningServer], tmp_path: Path
) -> tuple[RunningServer, Path]:
    """A server that never comes to the end of what it is sent, and what is there by then."""
    half, heard = tmp_path / "half", list[object]()

    def stuck(receiver: Any, transport: Any, timeout_s: float) -> object:
        if heard:  # who asks; what comes now is the dataset
            half.touch()
            signal.pause()
        heard.append(receive_one(receiver, transport, timeout_s))
        return heard[0]

    with monkeypatch.context() as changed:
        changed.setattr(house, "receive_one", stuck)
        return serve(), half


@pytest.mark.usefixtures("impatient")
def test_so_does_one_whose_dataset_is_long_on_its_way(
    half_sent: tuple[RunningServer, Path], feed: Callable[..., Fed]
) -> None:
    server, half = half_sent
    fed = feed(Large(), server)

    assert fed.samples() == ALL

    assert half.exists()
    assert len(fed.events) == 1
    server.kill()


# Sent once, and again where it has changed


def test_equal_content_is_sent_once_and_opened_once(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], sent: list[Recipe]
) -> None:
    server = serve()
    first, second = feed(Numbers(), server), feed(Numbers(), server)

    batches = iter(first.loader)
    got = next(batches).tolist()
    assert second.samples() == ALL
    got += [sample for batch in batches for sample in batch.tolist()]

    assert got == ALL
    assert len(sent) == 1
    assert len(server.house_pids()) == 1


def test_other_content_has_a_process_of_its_own(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], sent: list[Recipe]
) -> None:
    server = serve()

    assert [feed(Numbers(name), server).samples() for name in "ab"] == [ALL, ALL]

    assert len(sent) == 2
    assert len(server.house_pids()) == 2


def test_each_server_is_sent_it(
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    sent: list[Recipe],
    eventually: Callable[..., None],
) -> None:
    servers = [serve(), serve(name="algo-3")]

    assert feed(Numbers(), *servers).samples() == ALL

    eventually(lambda: len(sent) == 2)
    assert sent[0].digest == sent[1].digest


def test_a_dataset_is_sent_again_only_where_it_has_changed(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], sent: list[Recipe]
) -> None:
    dataset = Numbers()
    fed = feed(dataset, serve())

    assert [fed.samples(), fed.samples()] == [ALL, ALL]
    assert len(sent) == 1

    dataset.epoch = 1
    assert fed.samples() == [1000 + sample for sample in ALL]
    assert len(sent) == 2
    assert fed.makers() == {"algo-2"}
    assert fed.events == []


def test_data_workers_that_persist_keep_the_dataset_that_they_have(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], sent: list[Recipe]
) -> None:
    dataset = Numbers()
    fed = feed(dataset, serve(), persistent_workers=True)

    assert fed.samples() == ALL
    dataset.epoch = 1
    assert fed.samples() == ALL

    assert len(sent) == 1
    assert fed.makers() == {"algo-2"}


def test_a_file_that_is_not_on_the_data_instance_is_sent(
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    sent: list[Recipe],
    tmp_path: Path,
) -> None:
    np.arange(COUNT).tofile(tmp_path / "samples")
    samples = np.memmap(tmp_path / "samples", np.int64, "r")
    with monkeypatch.context() as changed:
        changed.setattr(opening, "_size_of", lambda _: None)
        server = serve()

    assert feed(samples, server).samples() == ALL

    assert [recipe.files for recipe in sent] == [[(str(tmp_path / "samples"), 8 * COUNT)], []]


# Faults


def test_a_server_that_dies_while_it_is_sent_a_dataset_gets_it_when_it_is_back(
    half_sent: tuple[RunningServer, Path],
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    eventually: Callable[..., None],
    sent: list[Recipe],
) -> None:
    server, half = half_sent
    fed = feed(Large(), server)
    batches = iter(fed.loader)
    eventually(half.exists)

    server.kill()
    serve(port=server.address.port)

    assert [sample for batch in batches for sample in batch.tolist()] == ALL
    assert len(sent) == 2
    assert fed.makers() == {"algo-2"}


def test_a_house_that_is_killed_is_built_again(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], sent: list[Recipe]
) -> None:
    server = serve()
    fed = feed(Numbers(), server)
    batches = iter(fed.loader)
    got = next(batches).tolist()

    kill(*server.house_pids())
    got += [sample for batch in batches for sample in batch.tolist()]
    got += fed.samples()

    assert got == ALL + ALL
    assert len(sent) == 2
    event = server.next_event()
    assert event.startswith("the data workers of a loader on algo-2 ended: their process ")
    assert "SIGKILL" in event
    assert fed.makers() == {"algo-2"}


@contextmanager
def proven(server: RunningServer, secret: bytes, recipe: Recipe) -> Iterator[RawPeer]:
    """Give a client by hand that has proved itself, and was asked for its recipe."""
    with socket.create_connection((server.address.host, server.address.port)) as connection:
        prove_to_server(connection, secret, recipe=recipe.digest)
        peer = RawPeer(connection)
        peer.send(asker_here().pack())
        asked = peer.receive()
        assert asked is not None
        assert asked.kind is Kind.WANT
        yield peer


def recipe_of(dataset: Any) -> Recipe:
    return packed(source_of(TorchDataLoader(dataset, SIZE)))


def test_a_trainer_that_goes_away_amid_it_holds_up_nobody(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed], secret: bytes
) -> None:
    server, dataset = serve(), Numbers()
    whole = b"".join(recipe_of(dataset).message())

    for part in (b"", whole[:100], whole[:-1]):
        with proven(server, secret, recipe_of(dataset)) as peer:
            peer.send([memoryview(part)])

    fed = feed(dataset, server)
    assert fed.samples() == ALL
    assert fed.makers() == {"algo-2"}


def test_content_without_the_announced_digest_is_not_opened(
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    secret: bytes,
    tmp_path: Path,
) -> None:
    server, dataset = serve(), Marking(tmp_path / "opened")
    recipe, another = recipe_of(dataset), recipe_of(Marking(tmp_path / "opened too"))
    body = np.frombuffer(another.body, np.uint8)

    with proven(server, secret, recipe) as peer:
        peer.send(pack(Kind.RECIPE, 0, [recipe.digest.hex(), [], body]))
        assert peer.receive() is None

    assert list(tmp_path.iterdir()) == []
    assert feed(dataset, server).samples() == ALL
    assert list(tmp_path.iterdir()) == [dataset.mark]


def test_another_recipe_than_the_announced_one_is_not_opened(
    serve: Callable[..., RunningServer], secret: bytes, tmp_path: Path
) -> None:
    server, another = serve(), recipe_of(Marking(tmp_path / "opened"))

    with proven(server, secret, recipe_of(Numbers())) as peer:
        peer.send(another.message())
        assert peer.receive() is None

    assert list(tmp_path.iterdir()) == []


def test_of_a_stranger_nothing_is_opened(
    serve: Callable[..., RunningServer], secret: bytes, tmp_path: Path
) -> None:
    server, recipe = serve(), recipe_of(Marking(tmp_path / "opened"))
    place = server.address.host, server.address.port
    messages = [*asker_here().pack(), *recipe.message()]

    with socket.create_connection(place) as stranger:
        stranger.settimeout(PATIENCE_S)
        asked = asked_for(0, recipe.digest) + bytes(32)
        stranger.sendall(greet(bytes(32)) + asked + b"".join(messages))
        assert len(heard_by(stranger)) <= len(greet(bytes(32)))
    with (
        socket.create_connection(place) as stranger,
        pytest.raises(HandshakeError, match="closed the connection in the handshake"),
    ):
        prove_to_server(stranger, bytes(32), recipe=recipe.digest)

    assert server.house_pids() == []
    assert list(tmp_path.iterdir()) == []
    with proven(server, secret, recipe) as peer:
        peer.send(recipe.message())
        assert Hello.read(peer.receive()).host == "algo-2"
    assert (tmp_path / "opened").exists()


def heard_by(peer: socket.socket) -> bytes:
    """Return all that is said until the connection ends."""
    said = b""
    with suppress(ConnectionResetError):  # what was sent is left unread
        while part := peer.recv(4096):
            said += part
    return said


# What a house is to its data workers


def test_a_large_dataset_is_in_memory_once(
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    eventually: Callable[..., None],
) -> None:
    server = serve(num_data_workers=2)
    batches = iter(feed(Large(), server).loader)
    next(batches)
    eventually(lambda: len(server.data_worker_pids()) == 2)

    before = psutil.Process(server.pid).memory_info()
    (pid,) = server.house_pids()
    opened = psutil.Process(pid).memory_full_info()
    forked = [psutil.Process(pid).memory_full_info() for pid in server.data_worker_pids()]

    assert LARGE_BYTES < opened.rss - before.rss < 1.5 * LARGE_BYTES
    assert max(each.uss for each in forked) < LARGE_BYTES / 2
    assert [sample for batch in batches for sample in batch.tolist()] == ALL[SIZE:]


def test_a_dataset_goes_through_tls(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed]
) -> None:
    fed = feed(Large(2**22), serve(tls=True), tls=True)

    assert fed.samples() == ALL
    assert fed.makers() == {"algo-2"}


def as_rank(monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
    told = {"RANK": rank, "WORLD_SIZE": 8, "LOCAL_RANK": rank % 4, "LOCAL_WORLD_SIZE": 4}
    for name, number in told.items():
        monkeypatch.setenv(name, str(number))
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: rank)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 8)


def test_a_dataset_sees_the_rank_of_the_trainer_that_asks(
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
) -> None:
    server = serve()

    for rank in (5, 6):
        as_rank(monkeypatch, rank)
        fed = feed(Ranked(), server, collate_fn=torch.tensor)
        expected = [5, rank, 8, rank % 4, rank, 8]  # the first has brought it, opened by rank 5
        assert {tuple(row) for batch in fed.loader for row in batch.tolist()} == {
            tuple(expected)
        }

    assert len(server.house_pids()) == 1


def test_a_collective_of_a_dataset_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
) -> None:
    server = serve()
    as_rank(monkeypatch, 5)

    with pytest.raises(
        SampleError, match=r"torch\.distributed\.all_reduce was called in a data worker"
    ):
        feed(Reducing(), server).samples()


def test_a_house_ends_some_time_after_its_last_client(
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    eventually: Callable[..., None],
    sent: list[Recipe],
) -> None:
    monkeypatch.setattr(house, "KEPT_S", 0.2)
    server = serve()
    first, second = feed(Numbers(), server), feed(Numbers(), server)
    assert [first.samples(), second.samples()] == [ALL, ALL]
    (pid,) = server.house_pids()

    first.loader.close()
    with pytest.raises(psutil.TimeoutExpired):
        psutil.Process(pid).wait(2 * house.KEPT_S)
    second.loader.close()
    eventually(lambda: not server.house_pids())

    assert first.samples() == ALL
    assert len(sent) == 2
    assert not server.events.poll(0)


# What stays with the trainer, and what does not


@pytest.mark.parametrize("num_workers", [0, 2])
def test_what_cannot_be_sent_is_prepared_by_the_trainer_in_torchs_order(
    serve: Callable[..., RunningServer],
    feed: Callable[..., Fed],
    tmp_path: Path,
    num_workers: int,
) -> None:
    server, dataset = serve(), Reading(tmp_path / "samples")

    def order() -> dict[str, Any]:
        return {"shuffle": True, "generator": torch.Generator().manual_seed(5)}

    theirs = TorchDataLoader(dataset, SIZE, **order())
    fed = feed(dataset, server, num_workers=num_workers, **order())

    for _ in range(2):
        assert fed.samples() == [sample for batch in theirs for sample in batch.tolist()]

    (event,) = fed.events
    assert event.startswith("The loader over Reading cannot be sent to data servers: ")
    assert "dataset.file (BufferedReader)" in event
    assert server.house_pids() == []
    assert fed.makers() == {LOCAL}
    dataset.file.close()


def test_data_servers_stand_for_data_workers_that_would_be_spawned(
    serve: Callable[..., RunningServer], feed: Callable[..., Fed]
) -> None:
    options = {"num_workers": 2, "num_local_workers": None}
    fed = feed(Numbers(), serve(), multiprocessing_context="spawn", **options)

    assert fed.samples() == ALL

    assert fed.makers() == {"algo-2"}
    assert fed.events == []
