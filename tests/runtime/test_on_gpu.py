"""Unmodified scripts that train on a GPU, launched on this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

pytestmark = pytest.mark.gpu

LIMIT_S = 100
KEEP = """
    import json, os, time, torch
    from pathlib import Path

    def keep(**facts):
        Path(os.environ["SM_OUTPUT_DATA_DIR"], "seen.json").write_text(json.dumps(facts))
"""
TIMED = (
    KEEP
    + """
    model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    marks = []
    began_s = time.perf_counter()
    for batch in torch.utils.data.DataLoader(torch.randn(4096, 2048), batch_size=512):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        values = batch.cuda()
        for _ in range(8):
            values = model(values)
        optimizer.zero_grad()
        values.square().mean().backward()
        end.record()
        marks.append((begin, end))
        optimizer.step()
    torch.cuda.synchronize()
    took_s = time.perf_counter() - began_s
    keep(took_s=took_s, device_s=[a.elapsed_time(b) / 1000 for a, b in marks])
"""
)
FED = (
    KEEP
    + """
    class Numbered(torch.utils.data.Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, index):
            return torch.full((3, 64, 64), float(index)), os.environ["SM_CURRENT_HOST"]

    loader = torch.utils.data.DataLoader(
        Numbered(), batch_size=8, shuffle=True, pin_memory=True
    )
    model = torch.nn.Linear(64, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    seen, pinned, hosts = [], [], set()
    for images, names in loader:
        pinned.append(images.is_pinned())
        hosts.update(names)
        images = images.to("cuda", non_blocking=True)
        low, high = images.amin(dim=(1, 2, 3)), images.amax(dim=(1, 2, 3))
        seen += list(zip(low.tolist(), high.tolist()))
        optimizer.zero_grad()
        model(images).mean().backward()
        optimizer.step()
    keep(seen=seen, pinned=pinned, hosts=sorted(hosts))
"""
)


def seen_by(run: Run) -> dict[str, Any]:
    assert run.wait(LIMIT_S).status == "Completed", run.logs()
    path = run.folder.opt_ml("algo-1") / "output" / "data" / "seen.json"
    seen: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return seen


def test_a_compiled_step_is_as_long_as_what_the_device_computes_in_it(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    config = TrainingCompilerConfig(backend="eager")
    run = start(make_job(TIMED, cluster="here=local:1", compiler_config=config))

    seen = seen_by(run)

    records = run.records()
    (steps,) = records.steps.values()
    assert len(steps) == len(seen["device_s"]) == 8
    assert all(step.synchronized for step in steps)
    for step, device_s in zip(steps, seen["device_s"], strict=True):
        assert 0 < device_s < step.step_time_s
    assert sum(step.step_time_s for step in steps) < seen["took_s"]
    (report,) = records.compiler.values()
    assert (report.backend, report.device) == ("eager", "cuda")
    weights_bytes = 8 * 2048 * 2049 * 4
    assert report.peak_memory_bytes > 2 * weights_bytes
    samples = [sample for of_host in records.system.values() for sample in of_host]
    assert all(sample.gpu_memory_bytes for sample in samples)


def test_what_a_data_group_makes_is_pinned_and_arrives_whole_on_the_gpu(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    cluster = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1"
    run = start(make_job(FED, cluster=cluster, num_loader_workers=0, num_data_workers=2))

    seen = seen_by(run)

    assert sorted(seen["seen"]) == [[number, number] for number in range(64)]
    assert all(seen["pinned"])
    assert seen["hosts"] == ["algo-2"]
    (steps,) = run.records().steps.values()
    assert [step.num_samples for step in steps] == [8] * 8
    assert not any(step.synchronized for step in steps)
