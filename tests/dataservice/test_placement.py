from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data.datapipes.iter import IterableWrapper

from smtc_lab.dataservice import placement
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.placement import Placement, ServerAddress
from smtc_lab.dataservice.source import source_of
from smtc_lab.errors import DataServiceError

DATASET: Any = [1, 2, 3]


class Noise(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        return index + torch.rand(3)


ADDRESS = ServerAddress("127.0.0.1", 8471)
SECRET = bytes(range(32))


def test_without_a_default_a_loader_is_local() -> None:
    loader = DataLoader(DATASET)

    assert (loader.servers, loader.num_local_workers, loader.seed) == ((), 0, None)


def test_a_loader_takes_the_default_placement() -> None:
    records: list[Any] = []
    placement.set_default(
        Placement(
            servers=(ADDRESS,),
            secret=SECRET,
            num_local_workers=3,
            seed=5,
            record=records.append,
        )
    )

    loader = DataLoader(DATASET)

    assert (loader.servers, loader.secret) == ((ADDRESS,), SECRET)
    assert (loader.num_local_workers, loader.seed, loader.record) == (3, 5, records.append)


def test_arguments_win_over_the_default_placement() -> None:
    placement.set_default(
        Placement(servers=(ADDRESS,), secret=SECRET, num_local_workers=3, seed=5)
    )

    loader = DataLoader(DATASET, servers=(), num_local_workers=0, seed=6)

    assert (loader.servers, loader.num_local_workers, loader.seed) == ((), 0, 6)


def drawn(loader: DataLoader[Any]) -> list[Any]:
    return [batch.tolist() for batch in loader]


def test_loaders_made_before_the_first_iteration_draw_alike_and_later_ones_otherwise() -> None:
    placement.set_default(Placement(seed=5))
    early = [DataLoader(Noise()) for _ in range(2)]
    assert not placement.has_iterated()

    first, second = map(drawn, early)
    assert placement.has_iterated()
    third, fourth = (drawn(DataLoader(Noise())) for _ in range(2))

    assert first == second
    assert first != third != fourth != first


def test_loaders_without_a_jobs_seed_draw_as_the_script_seeds_them() -> None:
    made = []
    for _ in range(2):
        torch.manual_seed(5)
        made.append(drawn(DataLoader(Noise())))

    assert made[0] == made[1]


def test_a_new_default_placement_begins_a_new_script() -> None:
    for _ in range(2):
        placement.set_default(Placement(seed=5))

        assert not placement.has_iterated()
        assert [placement.next_loader_number() for _ in range(2)] == [0, 1]
        placement.note_iteration()


def test_a_loaders_name_has_no_effect() -> None:
    assert drawn(DataLoader(DATASET, loader_name="val")) == drawn(DataLoader(DATASET))


def test_it_can_stand_in_for_the_dataloader_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.utils.data, "DataLoader", DataLoader)

    from torch.utils.data import DataLoader as Imported

    loader = Imported(DATASET, batch_size=2)
    assert [batch.tolist() for batch in loader] == [[1, 2], [3]]
    assert isinstance(loader, torch.utils.data.dataloader.DataLoader)


def test_a_loader_of_torch_and_ours_are_served_alike() -> None:
    def collate(samples: list[int]) -> list[int]:
        return samples

    theirs = source_of(torch.utils.data.DataLoader(DATASET, 2, collate_fn=collate))

    assert theirs == source_of(DataLoader(DATASET, 2, collate_fn=collate))
    assert (theirs.auto_collation, theirs.num_samples) == (True, 3)


def test_a_datapipe_cannot_be_served() -> None:
    with pytest.raises(
        DataServiceError, match=r"is a DataPipe, which data servers cannot serve"
    ):
        source_of(torch.utils.data.DataLoader(IterableWrapper(range(3))))


def test_a_number_of_data_workers_is_a_number_or_auto() -> None:
    with pytest.raises(DataServiceError, match="num_workers='many', but must be"):
        DataLoader(DATASET, num_workers="many")  # type: ignore[arg-type]


def test_torchs_own_seeding_gives_torchs_own_random_numbers() -> None:
    options: dict[str, Any] = {"batch_size": 2, "num_workers": 2}
    torch.manual_seed(5)
    theirs = [batch.tolist() for batch in TorchDataLoader(Noise(), **options)]
    torch.manual_seed(5)

    ours = [batch.tolist() for batch in DataLoader(Noise(), **options, seeding="torch")]

    assert ours == theirs


def test_torchs_own_seeding_and_data_servers_are_refused() -> None:
    with pytest.raises(DataServiceError, match=r"seeding='torch'.*1 data servers"):
        DataLoader(DATASET, servers=[ADDRESS], secret=bytes(32), seeding="torch")


def test_servers_without_a_secret_are_refused() -> None:
    with pytest.raises(DataServiceError, match=r"1 data servers \(127\.0\.0\.1:8471\) but no"):
        DataLoader(DATASET, servers=[ADDRESS])


def test_a_short_secret_is_refused_and_not_shown() -> None:
    with pytest.raises(DataServiceError, match=r"has 6 bytes, but needs 32") as raised:
        Placement(servers=(ADDRESS,), secret=b"hunter")

    assert "hunter" not in str(raised.value)


def test_a_placement_does_not_show_its_secret() -> None:
    assert "secret" not in repr(Placement(servers=(ADDRESS,), secret=SECRET))


def test_a_negative_number_of_data_workers_is_refused() -> None:
    with pytest.raises(DataServiceError, match=r"num_local_workers=-1.*at least 0"):
        DataLoader(DATASET, num_local_workers=-1)


@pytest.mark.parametrize(
    "address", [ADDRESS, ServerAddress("::1", 1), ServerAddress("algo-2", 9)]
)
def test_an_address_is_read_as_it_is_written(address: ServerAddress) -> None:
    assert ServerAddress.parse(str(address)) == address


@pytest.mark.parametrize("text", ["", "algo-2", ":80", "algo-2:0", "algo-2:65536", "algo-2:x"])
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(DataServiceError, match=r"is not HOST:PORT"):
        ServerAddress.parse(text)


def test_a_placement_can_be_set_without_torch() -> None:
    script = (
        "import sys; from smtc_lab.dataservice import placement; "
        "placement.set_default(None); sys.exit('torch' in sys.modules)"
    )

    ended = subprocess.run([sys.executable, "-c", script], check=False, cwd="/")

    assert ended.returncode == 0
