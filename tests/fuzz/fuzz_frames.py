"""Let atheris look for bytes that crash the reader of messages; run by ``make fuzz``.

The arguments are libFuzzer's; the folder for the seeds comes first.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["smtc_lab.dataservice"]):
    import frames_target


def main() -> None:
    """Write the seeds, then fuzz; ends with an error at the first crash."""
    program, folder, *arguments = sys.argv
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(frames_target.seeds()):
        Path(folder, f"seed_{number}").write_bytes(seed)
    frames_target.limit_memory()
    atheris.Setup([program, *arguments, folder], frames_target.receive_hostile)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
