"""Scripts for SageMaker's instance groups, whose data group brings a data server of its own.

The script is made as AWS's published sample for PyTorch is (amazon-sagemaker-examples,
heterogeneous clusters): a gRPC server that streams batches, ended by a connection to a port.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.records.records import NOTHING_TO_SERVE
from smtc_lab.spec.emulation import Emulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

CLUSTER = "data_group=ml.c5.9xlarge:1:script,dnn_group=ml.p3.2xlarge:1"
LIMIT_S = 90.0

SAMPLE = """
    import argparse, json, multiprocessing, os, socket, sys
    from concurrent import futures
    from pathlib import Path

    import grpc
    import torch

    import smtc_lab as lab

    parser = argparse.ArgumentParser()
    for name in ("--feed-port", "--shutdown-port", "--iterations", "--shuts-down"):
        parser.add_argument(name, type=int)
    args = parser.parse_args()

    def fill(batches):
        ids = torch.utils.data.TensorDataset(torch.arange(8.0 * args.iterations)[:, None])
        for (batch,) in torch.utils.data.DataLoader(ids, batch_size=8, num_workers=2):
            batches.put(batch.numpy().tobytes())

    def serve():
        batches = multiprocessing.Queue(maxsize=4)
        filling = multiprocessing.Process(target=fill, args=(batches,))
        filling.start()

        def get_examples(request, context):
            while True:
                yield batches.get()

        handler = grpc.method_handlers_generic_handler(
            "DatasetFeed", {"get_examples": grpc.unary_stream_rpc_method_handler(get_examples)}
        )
        server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))
        server.add_generic_rpc_handlers([handler])
        server.add_insecure_port(f"[::]:{args.feed_port}")
        server.start()
        waiting = socket.create_server(("", args.shutdown_port))
        print("serving as", lab.Session().role, "of", os.environ.get("RANK"), flush=True)
        waiting.accept()
        server.stop(2).wait()
        filling.join()
        print("shut down", flush=True)
        os._exit(0)  # a thread of the server waits for batches for ever

    class RemoteDataset(torch.utils.data.IterableDataset):
        def __init__(self, host):
            self.host = host

        def __iter__(self):
            channel = grpc.insecure_channel(f"{self.host}:{args.feed_port}")
            grpc.channel_ready_future(channel).result(timeout=60)
            for sent in channel.unary_stream("/DatasetFeed/get_examples")(b""):
                yield torch.frombuffer(bytearray(sent), dtype=torch.float32)[:, None]

    def train(host):
        dataset = RemoteDataset(host)
        loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=1)
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
        ids = []
        for number, batch in enumerate(loader, start=1):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
            ids += batch.flatten().tolist()
            if number == args.iterations:
                break
        print("trained on", sorted(map(int, ids)), type(loader).__module__, flush=True)
        if args.shuts_down:
            socket.create_connection((host, args.shutdown_port)).close()

    tree = Path(os.environ["SM_INPUT_CONFIG_DIR"], "resourceconfig.json")
    config = json.loads(tree.read_text())
    hosts = {each["instance_group_name"]: each["hosts"] for each in config["instance_groups"]}
    is_data = os.environ["SM_CURRENT_INSTANCE_GROUP"] == "data_group"
    serve() if is_data else train(hosts["data_group"][0])
"""


@pytest.fixture
def sample(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> Callable[[bool], Run]:
    """Run the sample with two free ports; its trainers shut the data server down, or forget."""

    def run(is_shut_down: bool) -> Run:  # noqa: FBT001  what it is about
        with socket.create_server(("", 0)) as one, socket.create_server(("", 0)) as other:
            feed, shutdown = (each.getsockname()[1] for each in (one, other))
        job = make_job(
            SAMPLE,
            cluster=CLUSTER,
            emulation=Emulation(device_step_time_s=0.01),
            hyperparameters={
                "feed-port": feed,
                "shutdown-port": shutdown,
                "iterations": 6,
                "shuts-down": int(is_shut_down),
            },
        )
        return start(job).wait(LIMIT_S)

    return run


def test_trainers_are_fed_by_the_scripts_own_server_which_they_shut_down(
    sample: Callable[[bool], Run],
) -> None:
    run = sample(True)

    assert run.status == "Completed"
    assert run.state.exit_codes == {"algo-1": 0, "algo-2": 0}
    assert run.logs("algo-1").splitlines() == ["serving as data of None", "shut down"]
    assert f"trained on {list(range(48))} torch.utils.data.dataloader" in run.logs("algo-2")
    records = run.records()
    assert {rank: len(steps) for rank, steps in records.steps.items()} == {"algo-2-rank0": 6}
    assert not {"warning", NOTHING_TO_SERVE} & {event.kind for event in records.events}
    assert any(sample.cpu_quota_cores for sample in records.system["algo-1"])


def test_a_data_server_that_nobody_shuts_down_is_ended_and_the_job_is_complete(
    sample: Callable[[bool], Run],
) -> None:
    run = sample(False)

    assert run.status == "Completed"
    assert "shut down" not in run.logs("algo-1")
    (warning,) = [each for each in run.records().events if each.kind == "warning"]
    assert "algo-1 (data_group) still ran the script 10 s after all" in warning.message
