"""A process keeps the memory that its tensors give back."""

from __future__ import annotations

import subprocess
import sys

FAULTS = """
import resource, sys
from smtc_lab.compiler.host_memory import keep_memory
if sys.argv[1] == "keep":
    assert keep_memory() is None, keep_memory()
block = 64 * 2**20
bytearray(block)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    bytearray(b"x") * block
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(mode: str) -> int:
    process = subprocess.run(
        [sys.executable, "-c", FAULTS, mode], capture_output=True, text=True, check=True
    )
    return int(process.stdout)


def test_memory_that_was_given_back_is_not_faulted_in_again() -> None:
    # 64 MiB are 16,384 pages; the first of the four loops may have to map them.
    assert page_faults("lose") > 3 * 16_000
    assert page_faults("keep") < 2 * 16_500
