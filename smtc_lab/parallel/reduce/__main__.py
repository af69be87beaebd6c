"""The reducer of a data instance: ``python -m smtc_lab.parallel.reduce HOST PORT``.

The job's secret comes on standard input, in hexadecimal; when that ends, it ends.
"""

from __future__ import annotations

import sys
import threading

from smtc_lab.parallel.reduce.reducer import Reducer


def main(host: str, port: str) -> None:
    """Sum until standard input ends."""
    secret = bytes.fromhex(sys.stdin.readline())
    reducer = Reducer(host, int(port), secret, on_event=lambda said: print(said, flush=True))  # noqa: T201  the instance's log is its stdout
    print(f"smtc-lab: gradients are reduced at {reducer.address}", flush=True)  # noqa: T201  as above

    def end_with_parent() -> None:
        sys.stdin.read()
        reducer.stop()

    threading.Thread(target=end_with_parent, daemon=True).start()
    reducer.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:3])
