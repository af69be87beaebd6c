from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from smtc_lab.compiler.observing.parity_recorder import ParityRecorder, make_comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    MakeRecorder = Callable[..., ParityRecorder]


@pytest.fixture
def make_recorder(tmp_path: Path) -> Iterator[MakeRecorder]:
    made: list[ParityRecorder] = []

    def make(**options: Any) -> ParityRecorder:
        options.setdefault("rank", 0)
        made.append(ParityRecorder(folder=tmp_path / "compiler", **options))
        return made[-1]

    yield make
    for recorder in made:
        recorder.close()


@pytest.fixture
def comparable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process comparable, for one test."""
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
        monkeypatch.setattr(functional, name, getattr(functional, name))
    for name in ("feature_alpha_dropout", "scaled_dot_product_attention"):
        monkeypatch.setattr(functional, name, getattr(functional, name))
    monkeypatch.setattr(torch, "dropout", torch.dropout)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    make_comparable(backend="eager")


def trace(tmp_path: Path, *, rank: int = 0) -> dict[str, Any]:
    path = tmp_path / "compiler" / f"parity-rank{rank}.npz"
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def test_losses_norms_and_weights_are_written_after_the_last_step(
    make_recorder: MakeRecorder, tmp_path: Path
) -> None:
    recorder = make_recorder(num_steps=2)
    model = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.constant_(model.weight, 3.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    recorder.watch(model)
    is_done = []
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        is_done.append(recorder.step_ended())

    assert is_done == [False, True]
    arrays = trace(tmp_path)
    assert arrays["losses"].tolist() == [6.0, 4.0]
    assert arrays["losses"].dtype == np.float64
    assert arrays["names"].tolist() == ["weight"]
    assert arrays["norms"] == pytest.approx(np.array([[8**0.5], [2**0.5]]))
    assert arrays["weight:weight"].tolist() == [[1.0, 1.0]]
    assert arrays["weight:weight"].dtype == np.float32
    assert not list(tmp_path.rglob("*.unfinished"))


def test_the_loss_of_accumulated_batches_is_their_sum(
    make_recorder: MakeRecorder, tmp_path: Path
) -> None:
    recorder = make_recorder(num_steps=1)
    weight = torch.ones(1, requires_grad=True)
    (weight * 2).backward()
    torch.autograd.backward([weight * 3, weight * 4])
    recorder.step_ended()

    assert trace(tmp_path)["losses"].tolist() == [9.0]


def test_a_step_without_a_loss_is_no_number(
    make_recorder: MakeRecorder, tmp_path: Path
) -> None:
    make_recorder(num_steps=1).step_ended()

    assert np.isnan(trace(tmp_path)["losses"]).all()


def test_a_run_that_ends_early_keeps_what_it_recorded(
    make_recorder: MakeRecorder, tmp_path: Path
) -> None:
    plain = torch.autograd.backward
    recorder = make_recorder(num_steps=10)
    recorder.watch(torch.nn.Linear(1, 1))
    torch.ones(1, requires_grad=True).backward()
    recorder.step_ended()
    recorder.close()
    recorder.close()

    assert trace(tmp_path)["norms"].shape == (1, 2)
    assert torch.autograd.backward is plain
    assert recorder.step_ended()


def test_tied_weights_are_recorded_once(make_recorder: MakeRecorder, tmp_path: Path) -> None:
    model = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2), "b": torch.nn.Linear(2, 2)})
    model["b"].weight = model["a"].weight
    recorder = make_recorder(num_steps=1)
    recorder.watch(model)
    recorder.watch(torch.nn.Linear(7, 7))  # a second model of the script
    recorder.step_ended()

    assert trace(tmp_path)["names"].tolist() == ["a.weight", "a.bias", "b.bias"]


def test_other_ranks_leave_the_weights_to_rank_0(
    make_recorder: MakeRecorder, tmp_path: Path
) -> None:
    recorder = make_recorder(num_steps=1, rank=3)
    recorder.watch(torch.nn.Linear(2, 1))
    recorder.step_ended()

    written = trace(tmp_path, rank=3)
    assert written["norms"].shape == (1, 2)
    assert not [name for name in written if name.startswith("weight:")]


def test_parameters_have_the_names_of_the_scripts_own_model(
    make_recorder: MakeRecorder, tmp_path: Path
) -> None:
    recorder = make_recorder(num_steps=1)
    recorder.watch(torch.compile(torch.nn.Sequential(torch.nn.Linear(1, 1))))
    recorder.step_ended()

    assert trace(tmp_path)["names"].tolist() == ["0.weight", "0.bias"]


def test_what_is_written_are_the_weights_of_the_last_recorded_step(
    make_recorder: MakeRecorder, tmp_path: Path
) -> None:
    recorder, model = make_recorder(num_steps=9), torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    recorder.watch(model)
    recorder.step_ended()
    torch.nn.init.zeros_(model.weight)
    recorder.close()

    assert trace(tmp_path)["weight:weight"].tolist() == [[1.0]]


@pytest.mark.usefixtures("comparable")
@pytest.mark.parametrize(
    "module",
    [
        torch.nn.Dropout(0.5),
        torch.nn.Dropout(0.5, inplace=True),
        torch.nn.Dropout1d(0.5),
        torch.nn.AlphaDropout(0.5),
        torch.nn.FeatureAlphaDropout(0.5),
    ],
)
def test_dropout_layers_drop_nothing(module: torch.nn.Module) -> None:
    batch = torch.ones(2, 8, 8)

    assert torch.equal(module.train()(batch.clone()), batch)


@pytest.mark.usefixtures("comparable")
def test_dropout_functions_drop_nothing() -> None:
    batch = torch.ones(64)

    assert torch.equal(functional.dropout(batch), batch)
    assert torch.equal(functional.dropout(batch, 0.5, True), batch)
    assert torch.equal(torch.dropout(batch, p=0.5, train=True), batch)


@pytest.mark.usefixtures("comparable")
def test_attention_drops_nothing() -> None:
    query = torch.randn(1, 2, 4, 8)
    attention = torch.nn.MultiheadAttention(8, 2, dropout=0.5).train()
    sequence = torch.randn(4, 1, 8)

    plain = functional.scaled_dot_product_attention(query, query, query)
    for positional in ((), (None, 0.5), (None, 0.5, False)):
        again = functional.scaled_dot_product_attention(query, query, query, *positional)
        assert torch.equal(again, plain)
    named = functional.scaled_dot_product_attention(query, query, query, dropout_p=0.5)
    assert torch.equal(named, plain)
    for needs_weights in (True, False):
        results = [
            attention(sequence, sequence, sequence, need_weights=needs_weights)[0]
            for _ in range(2)
        ]
        assert torch.equal(*results)


def test_recurrent_layers_of_the_model_drop_nothing(make_recorder: MakeRecorder) -> None:
    model = torch.nn.LSTM(4, 4, num_layers=2, dropout=0.5).train()
    make_recorder(num_steps=1).watch(model)
    batch = torch.ones(3, 2, 4)

    assert torch.equal(model(batch)[0], model(batch)[0])


@pytest.mark.usefixtures("comparable")
def test_a_model_that_drops_nothing_is_captured_in_one_graph() -> None:
    torch._dynamo.reset()
    model = torch.compile(
        torch.nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True).train(),
        backend="aot_eager",
        fullgraph=True,
    )
    batch = torch.ones(2, 3, 8)

    assert torch.equal(model(batch, batch, batch)[0], model(batch, batch, batch)[0])
    torch._dynamo.reset()
