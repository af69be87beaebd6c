"""A training script whose steps take a moment, and that imports no torch."""

from __future__ import annotations

QUICK_SCRIPT = """\
import time
from smtc_lab.runtime.instance_runtime import instance_runtime
timer = instance_runtime().timer
print("begun", flush=True)
while not timer.is_done:
    timer.ask()
    time.sleep(0.002)
    timer.got(8)
    timer.end()
"""
"""Makes steps until it has made those that its job asks for."""

GROUPED_SCRIPT = f"""\
import torch.distributed as dist
dist.init_process_group("gloo")
{QUICK_SCRIPT}"""
"""The same, by trainers that are of one group, though they exchange nothing."""

SERVES = "serves each dataloader of the trainers with"
"""What a data instance prints once it serves."""

SERVED_SCRIPT = f"""\
import json, os, socket, time
PORT = 16400
hosts = json.loads(os.environ["SMTC_HOSTS"])
for host in json.loads(os.environ["SMTC_DATA_HOSTS"]):
    while True:  # as a trainer does, which cannot begin without its data
        try:
            socket.create_connection((hosts[host], PORT), timeout=1).close()
            break
        except OSError:
            time.sleep(0.01)
{QUICK_SCRIPT}"""
"""The same, once all data instances serve."""
