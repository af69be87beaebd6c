"""Runs the fake: ``python -m tests.kit.fake_sagemaker``.

Prints its address when it listens. It ends, with every container, when its standard input does.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path

from moto.server import ThreadedMotoServer

from tests.kit.fake_sagemaker.service import FakeService
from tests.kit.fake_sagemaker.storage import Storage

REGION = "us-east-1"


def main() -> None:
    """Serve until standard input ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="smtc-fake-sagemaker-") as folder:
        service = FakeService(Path(folder))
        service.install()
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        service.storage = Storage(address, REGION)
        print(address, flush=True)  # noqa: T201  how its address is known
        while os.read(sys.stdin.fileno(), 4096):
            pass
        service.close()
        server.stop()


if __name__ == "__main__":
    main()
