"""The process that has imported ahead what processes of tests import, and forks them.

Started as ``python -m tests.kit.warm_starts.server <descriptor> <modules>`` by ``asking``. It
ends with who started it, or when the connection is closed. What has ended stays to be collected
until whoever asked has heard of it, as a child of its own would.
"""

from __future__ import annotations

import gc
import os
import sys

_PLAIN = [name for name in sys.modules if name.partition(".")[0] != "tests"]

from tests.kit.warm_starts.parking import Parking  # noqa: E402  what is imported here is noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

AHEAD = [
    "numpy",
    "psutil",
    "threadpoolctl",
    "smtc_lab.launchers.supervision.supervisor",
    "smtc_lab.launchers.local.instances",
    "smtc_lab.runtime.agent",
    "smtc_lab.runtime.run_script",
    "smtc_lab.study.process",
    "torch",
    "torch.distributed.fsdp",
    "torch.distributed.tensor.parallel",
    "torch.distributed.checkpoint.state_dict",
    "torch.distributed.optim",
    "smtc_lab.runtime.script.hooks",
    "smtc_lab.runtime.instance_runtime",
    "smtc_lab.runtime.session",
    "smtc_lab.dataservice.serving.pool",
]
"""What is imported ahead; of it, modules of ours are executed anew in each process.

Nothing that imports dynamo: it makes of torch another one than a script begins with.
"""

ROOM = "WARM_STARTS_ROOM_"
"""Variables that keep room for those of the forked processes; see ``Becoming``."""


def main(descriptor: int, ahead: Sequence[str]) -> None:
    """Import modules, and serve until whoever started this process ends."""
    for name in [name for name in os.environ if name.startswith(ROOM)]:
        del os.environ[name]
    parking = Parking(_PLAIN, on_return=_be_told_threads)
    parking.import_ahead(["tests.kit.warm_starts.serving"])
    from tests.kit.warm_starts.becoming import Becoming  # noqa: PLC0415  see above
    from tests.kit.warm_starts.serving import Serving  # noqa: PLC0415  see above

    becoming = Becoming(parking)
    _import_ahead(parking, ahead)
    becoming.fork_what_is_started()
    gc.freeze()
    Serving(descriptor, becoming).serve()


def _import_ahead(parking: Parking, ahead: Sequence[str]) -> None:
    gc.disable()
    parking.import_ahead(["smtc_lab.runtime.script.quick_start"])
    from smtc_lab.runtime.script.quick_start import start_quickly  # noqa: PLC0415  as above

    start_quickly()  # as run_script does before a script imports torch
    parking.import_ahead(ahead)
    gc.enable()


def _be_told_threads(back: set[str]) -> None:
    """Have libraries compute with as many threads as they would have been loaded with."""
    if "numpy.random" in back:
        sys.modules["numpy.random"].seed()
    if not back & {"numpy", "torch"}:
        return
    number = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
    if number == 1:  # as it is here
        return
    import threadpoolctl  # noqa: PLC0415  only then

    threadpoolctl.threadpool_limits(number)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(number)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].split())
