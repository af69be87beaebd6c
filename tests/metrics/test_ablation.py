from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.compared.ablation import FactorEffect, factor_effects, settings
from smtc_lab.metrics.compared.measured_cluster import measured_clusters
from smtc_lab.spec.compiler import TrainingCompilerConfig
from tests.kit.compilers import (
    FUSED,
    INDUCTOR,
    PLAIN,
    XLA,
    compiled_run,
    compiler_report,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def effects(
    set_ups: Mapping[str, tuple[TrainingCompilerConfig | None, float]],
) -> tuple[FactorEffect, ...]:
    runs = [
        compiled_run(config, name=name, step_time_s=time_s, number=number)
        for number in range(3)
        for name, (config, time_s) in set_ups.items()
    ]
    return factor_effects(measured_clusters(runs))


def test_only_pairs_that_differ_in_one_setting_tell_an_effect() -> None:
    found = effects({"plain": (PLAIN, 0.2), "fused": (FUSED, 0.16), "both": (INDUCTOR, 0.1)})

    assert [(one.factor, one.first, one.second) for one in found] == [
        ("backend", "fused", "both"),
        ("fused_optimizer", "plain", "fused"),
    ]
    assert found[0].speedup.mean == pytest.approx(1.6, rel=0.02)
    assert found[1].speedup.mean == pytest.approx(1.25, rel=0.02)
    assert (found[1].before, found[1].after) == ("off", "on")


def test_a_backend_is_told_against_eager_and_auto_not_at_all() -> None:
    auto = FUSED.model_copy(update={"backend": "auto"})

    found = effects({"eager": (FUSED, 0.2), "one": (INDUCTOR, 0.1), "auto": (auto, 0.1)})

    assert [(one.first, one.second) for one in found] == [("eager", "one")]


def test_a_script_as_it_is_counts_as_plain_eager() -> None:
    found = effects({"as it is": (None, 0.2), "fused": (FUSED, 0.16)})

    assert [one.factor for one in found] == ["fused_optimizer"]


def test_settings_without_effect_on_a_backend_do_not_count() -> None:
    eager = TrainingCompilerConfig(backend="eager", mode="max-autotune", per_block=True)

    assert settings(eager)["mode"] == "default"
    assert settings(eager)["per_block"] is None
    assert settings(TrainingCompilerConfig(enabled=False)) == settings(None)


def test_set_ups_that_ran_different_jobs_tell_no_effect() -> None:
    runs = [
        compiled_run(FUSED, name="eager", step_time_s=0.2),
        compiled_run(XLA, name="xla", step_time_s=0.2, cluster="xla@this=ml.c5.9xlarge:1"),
    ]

    assert factor_effects(measured_clusters(runs)) == ()


def test_memory_stands_beside_time() -> None:
    runs = [
        compiled_run(
            config,
            name=config.backend,
            step_time_s=0.2,
            report=compiler_report(config, peak_memory_bytes=peak),
        )
        for config, peak in ((FUSED, 2**30), (INDUCTOR, 3 * 2**29))
    ]

    (effect,) = factor_effects(measured_clusters(runs))

    assert effect.memory_ratio == 1.5
