"""The compiler of one process, with backends that fail on purpose where none real is needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.compiler import backends
from smtc_lab.compiler.compilation import Compilation
from smtc_lab.compiler.eager import EagerStep
from smtc_lab.compiler.inductor.debug_folder import DebugFolder
from smtc_lab.compiler.inductor.facts import InductorFacts
from smtc_lab.errors import CompilerError
from smtc_lab.metrics.records.compiler_report import CompilerReport
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BATCHES = torch.randn(12, 4, 3, generator=torch.Generator().manual_seed(3))


class Job:
    """A model in training, and what its compiler said."""

    def __init__(
        self, config: TrainingCompilerConfig, folder: Path | None, **options: Any
    ) -> None:
        torch.manual_seed(1)
        self.model = torch.nn.Linear(3, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.said: list[tuple[str, str]] = []
        options = {"max_steps": None, "rank": 0, "world_size": 1, **options}
        self.compilation = Compilation(
            config, folder=folder, say=lambda *words: self.said.append(words), **options
        )
        self.step = self.compilation.compile(train_step, self.model, self.optimizer)

    def losses(self) -> list[float]:
        losses = []
        for number, batch in enumerate(BATCHES):
            losses.append(self.step(batch).item())
            self.compilation.wait()
            self.compilation.step_ended(number, 0.01)
        return losses


def train_step(model: Any, optimizer: Any, batch: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss: torch.Tensor = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    return loss


@pytest.fixture(autouse=True)
def untouched_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Undo what a compilation sets in its process."""
    made: list[Compilation] = []
    begin = Compilation.__init__

    def remembered(self: Compilation, *args: Any, **options: Any) -> None:
        made.append(self)
        begin(self, *args, **options)

    monkeypatch.setattr(Compilation, "__init__", remembered)
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    for name in ("USE_TORCH_XLA", "TORCHINDUCTOR_CACHE_DIR"):
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    precision = torch.get_float32_matmul_precision()
    yield
    for compilation in made:
        compilation.close()
    torch.set_float32_matmul_precision(precision)


class Failing(EagerStep):
    """Stands in for a compiled step: fails in its second step, before anything was changed."""

    backend = "inductor"
    calls = 0

    def __call__(self, batch: Any) -> torch.Tensor:
        self.calls += 1
        if self.calls == 2:
            raise CompilerError("line 7 cannot be captured. Choose backend='eager'.")
        return super().__call__(batch)


@pytest.fixture
def failing_inductor(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(train_step: Any, model: Any, optimizer: Any, **_: Any) -> Any:
        def make_one(backend: str, config: Any, _: Any) -> EagerStep:
            kind = Failing if backend == "inductor" else EagerStep
            return kind(train_step, model, optimizer, config=config)

        return make_one

    monkeypatch.setattr("smtc_lab.compiler.compilation.step_maker", make)


def eager_losses() -> list[float]:
    return Job(TrainingCompilerConfig(backend="eager", keep_memory=False), None).losses()


@pytest.mark.usefixtures("failing_inductor")
def test_a_failure_ends_the_run_unless_the_job_says_otherwise() -> None:
    job = Job(TrainingCompilerConfig(backend="inductor", keep_memory=False), None)

    with pytest.raises(CompilerError, match="line 7 cannot be captured"):
        job.losses()


@pytest.mark.usefixtures("failing_inductor")
def test_a_fallback_runs_the_same_batch_eagerly_and_says_so() -> None:
    config = TrainingCompilerConfig(backend="inductor", fallback="eager", keep_memory=False)
    job = Job(config, None)

    assert job.losses() == eager_losses()
    report = job.compilation.report()
    assert report is not None
    assert report.backend == "eager"
    assert report.fell_back_because is not None
    assert "line 7" in report.fell_back_because
    assert [words for kind, words in job.said if kind == "warning"] == [
        "The step goes on eagerly: line 7 cannot be captured. Choose backend='eager'."
    ]


@pytest.fixture(params=["in a copy of the process", "in the process"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ``auto`` tries a backend."""
    if request.param == "in the process":
        monkeypatch.setattr(
            "smtc_lab.compiler.choosing.auto.tried_apart", lambda *_args, **_options: {}
        )


@pytest.mark.usefixtures("failing_inductor", "where")
def test_auto_leaves_a_backend_that_fails_and_loses_no_batch() -> None:
    job = Job(TrainingCompilerConfig(keep_memory=False), None, world_size=2)

    assert job.losses() == eager_losses()
    report = job.compilation.report()
    assert report is not None
    assert (report.backend, report.fell_back_because) == ("eager", None)
    problems = {probe.backend: probe.problem for probe in report.probes}
    assert problems["eager"] is None
    assert "line 7" in str(problems["inductor"])
    assert "the job has 2" in str(problems["xla"])


def test_a_report_lies_in_the_folder_after_ten_steps_and_at_the_end(tmp_path: Path) -> None:
    job = Job(TrainingCompilerConfig(backend="eager", keep_memory=False), tmp_path, rank=3)
    path = tmp_path / "report-rank3.json"

    job.losses()
    early = path.read_text(encoding="utf-8")
    path.unlink()
    job.compilation.close()

    report = CompilerReport.model_validate_json(early)
    assert (report.backend, report.device, report.fused_optimizer) == ("eager", "cpu", True)
    assert path.exists()


def test_a_folder_that_cannot_be_written_is_told_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    job = Job(TrainingCompilerConfig(backend="eager", keep_memory=False), tmp_path / "file")

    job.losses()

    assert any("report cannot be kept" in words for _, words in job.said)


@pytest.mark.usefixtures("failing_inductor")
def test_the_service_lines_of_sagemaker_are_said() -> None:
    config = TrainingCompilerConfig(backend="inductor", keep_memory=False)
    job = Job(config, None)

    assert [words for _, words in job.said] == [
        "Found configuration for Training Compiler",
        "Configuring SM Training Compiler...",
    ]


@pytest.mark.usefixtures("failing_inductor", "no_inductor_debugging")
def test_debug_mode_is_said_with_what_it_costs(tmp_path: Path) -> None:
    config = TrainingCompilerConfig(backend="inductor", debug=True, keep_memory=False)
    job = Job(config, tmp_path)

    assert ("compiler", "Training Compiler set to debug mode") in job.said
    (warning,) = [words for kind, words in job.said if kind == "warning"]
    assert "the first steps take longer" in warning


@pytest.fixture
def no_inductor_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave torch's own debugging of this process as it is."""
    monkeypatch.setattr(DebugFolder, "prepare", lambda _: None)


@pytest.mark.usefixtures("failing_inductor", "no_inductor_debugging")
def test_debug_files_get_their_names_when_the_early_report_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tidied = []
    monkeypatch.setattr(DebugFolder, "tidy", lambda _: tidied.append(True))
    config = TrainingCompilerConfig(
        backend="inductor", debug=True, fallback="eager", keep_memory=False
    )

    Job(config, tmp_path).losses()

    assert tidied == [True]


@pytest.mark.usefixtures("no_inductor_debugging")
def test_a_debug_folder_that_cannot_be_written_loses_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: DebugFolder) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(DebugFolder, "close", full)
    config = TrainingCompilerConfig(backend="eager", debug=True, keep_memory=False)
    job = Job(config, tmp_path)

    job.compilation.close()

    assert (tmp_path / "report-rank0.json").exists()
    assert job.said[-1] == (
        "warning",
        "The compiler's files cannot be kept: No space left on device.",
    )


@pytest.mark.usefixtures("failing_inductor")
def test_notes_of_all_parts_are_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        InductorFacts, "fields", lambda _: {"notes": ("forward runs eagerly.",)}
    )
    config = TrainingCompilerConfig(backend="inductor", precision="medium", keep_memory=False)

    report = Job(config, None).compilation.report()

    assert report is not None
    assert report.notes[0].startswith("Precision 'medium'")
    assert report.notes[1:] == ("forward runs eagerly.",)


def test_xla_refuses_several_trainers_before_anything_is_imported() -> None:
    with pytest.raises(CompilerError, match="the job has 2 trainers"):
        Job(TrainingCompilerConfig(backend="xla", keep_memory=False), None, world_size=2)


def test_xla_with_several_trainers_goes_on_eagerly_where_it_may() -> None:
    config = TrainingCompilerConfig(backend="xla", fallback="eager", keep_memory=False)
    job = Job(config, None, world_size=2)

    assert job.losses() == eager_losses()
    report = job.compilation.report()
    assert report is not None
    assert report.backend == "eager"
    assert "the job has 2 trainers" in str(report.fell_back_because)


def test_a_job_that_ends_before_the_choice_says_so() -> None:
    job = Job(TrainingCompilerConfig(keep_memory=False), None, world_size=2)
    job.step(BATCHES[0])

    job.compilation.close()
    job.compilation.close()

    assert [words for _, words in job.said if words.startswith("auto: ")] == [
        "auto: no choice was made: the job ended after 1 steps, while eager was measured"
    ]


def test_compiled_code_is_looked_up_by_the_number_of_threads() -> None:
    from torch._inductor import config

    with config.patch({"cpp.threads": -1}):  # monkeypatch would delete it in the end
        Job(TrainingCompilerConfig(keep_memory=False), None, world_size=2)

        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))

        assert config.cpp.threads == torch.get_num_threads()


@pytest.mark.usefixtures("fresh_dynamo")
def test_the_model_inside_of_ddp_is_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = torch.compile
    monkeypatch.setattr(torch, "compile", lambda call, **_: compile_(call, backend="eager"))
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 1)))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        config = TrainingCompilerConfig(backend="inductor", keep_memory=False)
        compilation = Compilation(
            config, folder=None, max_steps=None, rank=0, world_size=1, say=lambda *_: None
        )
        compilation.compile(train_step, model, optimizer)(BATCHES[0])
    finally:
        distributed.destroy_process_group()

    report = compilation.report()
    assert report is not None
    assert (report.graphs, report.graph_breaks) == (1, ())


def test_transformers_is_kept_from_taking_xla_by_itself() -> None:
    Job(TrainingCompilerConfig(backend="eager", keep_memory=False), None)

    assert os.environ["USE_TORCH_XLA"] == "0"


def test_a_lower_precision_is_measured_and_noted() -> None:
    job = Job(
        TrainingCompilerConfig(backend="eager", precision="medium", keep_memory=False), None
    )
    report = job.compilation.report()

    assert torch.get_float32_matmul_precision() == "medium"
    assert report is not None
    assert "Precision 'medium': matrix products are off by" in report.notes[0]


def test_auto_does_not_try_xla_where_it_cannot_or_need_not() -> None:
    assert "the job has 2" in str(backends.why_not_xla(world_size=2, max_steps=None))
    assert "10 steps are too few" in str(backends.why_not_xla(world_size=1, max_steps=10))


def test_auto_without_torch_xla_says_how_xla_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    assert "smtc-lab compare --compiler eager,xla" in str(
        backends.why_not_xla(world_size=1, max_steps=None)
    )
