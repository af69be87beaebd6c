"""A model of 200 modules and 10 billion parameters, cut into 8 stages on the meta device.

``python -m notebooks.benchmarks.parallel.huge`` prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def main() -> None:
    """Print what it took, and the most memory that this process held."""
    from smtc_lab.parallel.pipeline.planning.preview import plan_pipeline  # noqa: PLC0415  not to be timed

    with torch.device("meta"):
        width = 2048
        model = nn.Sequential(
            *(
                nn.TransformerEncoderLayer(width, 16, 4 * width, 0.0, batch_first=True)
                for _ in range(200)
            )
        )
        values = torch.empty(16, 128, width)
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    plan_pipeline(model, values, values, functional.mse_loss, pipeline=8, microbatches=16)
    took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    status = Path("/proc/self/status").read_text(encoding="ascii")
    told = {
        "what": "huge",
        "parameters": sum(one.numel() for one in model.parameters()),
        "seconds": took_s,
        "cpu_s": cpu_s,
        "peak_bytes": 1024 * int(status.partition("VmHWM:")[2].split()[0]),
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
