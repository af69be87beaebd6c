"""What is measured: the compiler settings by name."""

from __future__ import annotations

from smtc_lab.spec.compiler import TrainingCompilerConfig

PLAIN = "plain"
"""The baseline: eager, as every script is without us."""

EQUAL = ("eager", "inductor", "xla")
"""Single backends at the same numerics and with the same other factors."""

SET_UPS = {
    PLAIN: TrainingCompilerConfig(backend="eager", fused_optimizer=False, keep_memory=False),
    "kept memory": TrainingCompilerConfig(backend="eager", fused_optimizer=False),
    "eager": TrainingCompilerConfig(backend="eager"),
    "inductor": TrainingCompilerConfig(backend="inductor"),
    "xla": TrainingCompilerConfig(backend="xla"),
    "auto": TrainingCompilerConfig(backend="auto"),
    "auto, medium": TrainingCompilerConfig(backend="auto", precision="medium"),
    "eager, medium": TrainingCompilerConfig(backend="eager", precision="medium"),
    "inductor, whole": TrainingCompilerConfig(backend="inductor", per_block=False),
    "eager, bf16": TrainingCompilerConfig(backend="eager", precision="bf16"),
    "inductor, bf16": TrainingCompilerConfig(backend="inductor", precision="bf16"),
    "inductor, max-autotune": TrainingCompilerConfig(backend="inductor", mode="max-autotune"),
    "inductor, reduce-overhead": TrainingCompilerConfig(
        backend="inductor", mode="reduce-overhead"
    ),
}
"""All set-ups by name. But for the first two: kept memory and the fused optimizer are on."""

DEFAULT = (PLAIN, "eager", "inductor", "xla", "auto", "auto, medium")
"""What the benchmark compares on a CPU."""

ON_GPU = (
    PLAIN,
    "eager",
    "inductor",
    "inductor, max-autotune",
    "inductor, reduce-overhead",
    "eager, bf16",
    "inductor, bf16",
)
"""What it compares on a GPU."""

GPU_MODELS = ("bert", "gpt2", "resnet50", "vit_tiny")
"""Models that it trains there, at full size."""
