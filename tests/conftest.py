"""What holds for all tests."""

from __future__ import annotations

import os
import signal

import pytest

# What torch and transformers would else do, at an import or before they compile, takes seconds
# in each process that a test starts, and changes nothing that we test.
QUICK = {
    "USE_TORCH_XLA": "0",  # else transformers imports torch_xla
    "TORCHINDUCTOR_VEC_ISA_OK": "1",  # else a program is compiled to try vector instructions
}


def pytest_configure() -> None:
    for name, value in QUICK.items():
        os.environ.setdefault(name, value)
    # A shell starts what runs behind "&" with Ctrl-C ignored, and every process that a test
    # starts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Not addopts = -m "not soak": another -m would replace it, and bring the long tests back.
    if "soak" in config.option.markexpr:
        return
    soaking = [item for item in items if item.get_closest_marker("soak")]
    if soaking:
        config.hook.pytest_deselected(items=soaking)
        items[:] = [item for item in items if item not in soaking]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is None:
        return
    import torch  # it is slow to import, and few tests ask

    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
