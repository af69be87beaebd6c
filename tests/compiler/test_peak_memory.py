from __future__ import annotations

import torch

from smtc_lab.compiler.observing.peak_memory import peak_memory_bytes, reset_peak_memory

SIZE_BYTES = 256 * 2**20


def test_the_peak_holds_what_was_given_back() -> None:
    before = peak_memory_bytes()
    held = torch.ones(SIZE_BYTES, dtype=torch.uint8)
    del held

    after = peak_memory_bytes()

    assert before is not None
    assert after is not None
    assert after >= before
    assert after >= SIZE_BYTES


def test_a_reset_forgets_what_was_given_back() -> None:
    held = torch.ones(SIZE_BYTES, dtype=torch.uint8)
    high = peak_memory_bytes()
    del held

    assert reset_peak_memory()
    low = peak_memory_bytes()

    assert high is not None
    assert low is not None
    assert low <= high - SIZE_BYTES // 2
