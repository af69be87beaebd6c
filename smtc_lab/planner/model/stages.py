"""What each stage of a step takes by itself.

One step of the whole job needs B samples for each trainer process. Data instances and the
trainers' own data workers prepare them together; batches of data instances cross the network;
the host of each trainer does what cannot be spread; the devices compute and exchange gradients.

Source:
    Accounting of CPU-seconds per sample: Kuchnik et al., Plumber, MLSys 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.instance_types import GBPS_PER_FLOW
from smtc_lab.errors import PlannerError
from smtc_lab.machine.quota.hyperthreads import full_threads
from smtc_lab.planner.model.exchange import exchange_of, slowest_rank
from smtc_lab.planner.model.sharpness import p_norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.planner.model.buckets import ExchangeTimes
    from smtc_lab.planner.model.cpu_cost import CpuCost
    from smtc_lab.planner.model.inputs import ModelInputs
    from smtc_lab.planner.model.setup import Numbers, Setup

_LEAST_CORE_S = 1e-12
"""CPU-seconds per sample of a data path whose share could not be told from nothing."""


@dataclass(frozen=True)
class Stages:
    """Seconds that each stage of one step takes by itself, shape (set-ups, draws)."""

    cpu: NDArray[np.float64]
    """Preparing samples, on all instances together, however fast the network is."""

    network: NDArray[np.float64]
    """Sending the batches that data instances prepare; 0: nothing crosses a network. NaN:
    unknown."""

    supply: NDArray[np.float64]
    """Preparing and sending, together: what the trainers do not get from a slow network, their
    own data workers prepare."""

    serial: NDArray[np.float64]
    """Host work of one trainer that no other thread can do, and what an emulated device takes
    beyond its declared time."""

    device: NDArray[np.float64]
    """The slowest rank's device, and what it waits for gradients. NaN: unknown."""

    exchange: ExchangeTimes
    """Exchange of gradients; what of it is not hidden is in ``device``, too."""

    overlaps: NDArray[np.bool_]
    """Whether data are prepared while a step is computed, shape (set-ups, 1)."""


def stages_of(inputs: ModelInputs, setup: Setup, inverse_p: NDArray[np.float64]) -> Stages:
    """Return what each stage takes.

    Args:
        inputs: What the calibration tells.
        setup: The set-ups, as columns.
        inverse_p: How sharply data instances and their network overlap, shape (D,).

    Raises:
        PlannerError: Something that a set-up needs was not calibrated.
    """
    batch_size = setup.batch_size or inputs.batch_size
    samples = np.asarray(setup.trainers * setup.devices * batch_size)
    local, remote, wire = rates(inputs, setup)
    is_fed = np.asarray(setup.data_instances) > 0
    overlaps = is_fed | (np.asarray(setup.loader_workers) > 0)
    host_core_s = inputs.host_at(batch_size)
    load = np.stack(np.broadcast_arrays(1.0, remote / wire), axis=-1)
    arriving = remote / p_norm(load, inverse_p)
    cpu_s, supply_s = (
        _supply_s(inputs, setup, (local, each), samples=samples, host_core_s=host_core_s)
        for each in (remote, arriving)
    )
    alone_s = samples / setup.trainers * local_core_s(inputs, setup)
    alone_s = alone_s / (setup.trainer_speed * _own_threads(setup))
    cpu_s, supply_s = (np.where(overlaps, each, alone_s) for each in (cpu_s, supply_s))
    is_unknown = is_fed & _is_network_unknown(inputs, setup)
    overhead_s = _overhead_s(inputs, setup)
    serial_s = inputs.serial_s / (setup.trainer_speed * _thread_share(setup)) + overhead_s
    network_s = np.where(is_unknown, np.nan, arriving / wire * supply_s)
    device_s = _device_s(inputs, setup, batch_size)
    gradients = exchange_of(inputs, setup, device_s + overhead_s)
    parts = (cpu_s, network_s, supply_s, serial_s, device_s + gradients.exposed_s)
    cpu_s, network_s, supply_s, serial_s, device_s = np.broadcast_arrays(*parts)
    return Stages(cpu_s, network_s, supply_s, serial_s, device_s, gradients, overlaps)


def _own_threads(setup: Setup) -> NDArray[np.float64]:
    """Return what the threads of an instance's trainer processes do together, in cores."""
    busy = np.minimum(setup.trainer_cores, setup.devices)
    return full_threads(busy, setup.trainer_cores, setup.trainer_threads)


def _thread_share(setup: Setup) -> NDArray[np.float64]:
    """Return the share of a core that the thread of each trainer process has while it works.

    A quota below one core does not slow a thread down that works for a part of the time only:
    it bounds the sum of all work.
    """
    whole = np.maximum(setup.trainer_cores, 1.0)
    busy = np.minimum(whole, setup.devices)
    return full_threads(busy, whole, setup.trainer_threads) / setup.devices


def local_core_s(inputs: ModelInputs, setup: Setup) -> NDArray[np.float64]:
    """Return the CPU-seconds of a sample that a trainer's own data workers prepare.

    Raises:
        PlannerError: It was not calibrated.
    """
    if inputs.local is None:
        raise PlannerError(
            "The calibration has no worker_points of path 'in_process', so nothing is known of "
            "a trainer that prepares its own data. Calibrate again."
        )
    return _core_s(inputs.local, inputs, setup, setup.loader_workers, setup.trainer_cores)


def remote_core_s(inputs: ModelInputs, setup: Setup) -> NDArray[np.float64]:
    """Return the CPU-seconds of a sample that data instances prepare and send.

    Raises:
        PlannerError: It was not calibrated.
    """
    if inputs.remote is None:
        raise PlannerError(
            "The calibration has no worker_points of path 'service', so nothing is known of a "
            "data group. Calibrate again, or plan without one."
        )
    return _core_s(inputs.remote, inputs, setup, setup.data_workers, setup.data_cores)


def _core_s(
    cost: CpuCost, inputs: ModelInputs, setup: Setup, workers: Numbers, cores: Numbers
) -> NDArray[np.float64]:
    """Return CPU-seconds per sample, with as many data workers as can run at once."""
    if not setup.has_quotas:
        return cost.at(np.minimum(workers, cores), np.inf)
    at_once = np.clip(workers, 1.0, inputs.cores)
    return cost.at(at_once, np.where(np.asarray(cores) < inputs.cores, cores, np.inf))


def rates(inputs: ModelInputs, setup: Setup) -> tuple[NDArray[np.float64], ...]:
    """Return samples per second of the trainers, of the data instances, and of the network.

    Raises:
        PlannerError: Something that a set-up needs was not calibrated.
    """
    busy = np.minimum(setup.loader_workers, setup.trainer_cores)
    local = full_threads(busy, setup.trainer_cores, setup.trainer_threads)
    core_s = np.maximum(local_core_s(inputs, setup), _LEAST_CORE_S)
    local = setup.trainers * local * setup.trainer_speed / core_s
    if not np.any(setup.data_instances):
        return np.asarray(local), np.zeros((1, 1)), np.full((1, 1), np.inf)
    busy = np.minimum(setup.data_workers, setup.data_cores)
    remote = full_threads(busy, setup.data_cores, setup.data_threads)
    core_s = np.maximum(remote_core_s(inputs, setup), _LEAST_CORE_S)
    remote = setup.data_instances * remote * setup.data_speed / core_s
    return np.asarray(local), np.asarray(remote), _wire_per_s(inputs, setup, busy)


def _is_network_unknown(inputs: ModelInputs, setup: Setup) -> NDArray[np.bool_]:
    no_bytes = inputs.bytes_per_sample is None
    return np.isnan(setup.trainer_gbps) | np.isnan(setup.data_gbps) | no_bytes


def _wire_per_s(
    inputs: ModelInputs, setup: Setup, workers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the samples per second that the network carries; infinite where it is unknown."""
    flows = setup.trainers * setup.devices * setup.data_instances * np.maximum(workers, 1.0)
    servers = np.maximum(setup.data_instances, 1.0)
    gbps = np.minimum(setup.trainers * setup.trainer_gbps, servers * setup.data_gbps)
    # Connections bound a real network only; on one machine there is none.
    gbps = np.where(np.isinf(gbps), np.inf, np.minimum(gbps, flows * GBPS_PER_FLOW))
    is_known = ~_is_network_unknown(inputs, setup) & (np.asarray(setup.data_instances) > 0)
    bits = 8 * (inputs.bytes_per_sample or 0.0)
    return np.where(is_known, gbps * 1e9 / bits if bits else np.inf, np.inf)


def _supply_s(
    inputs: ModelInputs,
    setup: Setup,
    per_s: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    samples: NDArray[np.float64],
    host_core_s: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the time in which all CPUs together have done the work of one step.

    Three things bound it: data workers together, those of trainers and of data instances with
    their samples per second; the trainers' cores, which also do the host work and receive what
    others prepared; and the same with everything prepared elsewhere.
    """
    local, remote = per_s
    core_s = local_core_s(inputs, setup)
    cores = setup.trainers * setup.trainer_cores * setup.trainer_speed
    host_s = setup.trainers * setup.devices * host_core_s
    receive_s = np.minimum(inputs.receive_core_s, core_s)
    with np.errstate(divide="ignore"):
        workers_s = samples / (local + remote)
    shared_s = (host_s + samples * core_s) / (cores + remote * (core_s - receive_s))
    least_s = (host_s + samples * np.where(remote > 0, receive_s, core_s)) / cores
    trainers_s = np.maximum(np.where(local > 0, shared_s, 0.0), least_s)
    return np.maximum(workers_s, trainers_s)


def _device_s(inputs: ModelInputs, setup: Setup, batch_size: int) -> NDArray[np.float64]:
    known_s = inputs.device_at(batch_size)[np.newaxis]
    if inputs.is_device_cpu:
        # As if the step spread over all cores, as it could on the calibrated machine.
        cores = setup.trainer_cores / np.asarray(setup.devices)
        known_s = known_s * inputs.cores / (cores * setup.trainer_speed)
    if setup.device_s is not None:
        # given for a step as calibrated
        size_share = inputs.device_at(batch_size)[0] / inputs.device_at(inputs.batch_size)[0]
        given_s = setup.device_s * size_share
        known_s = np.where(np.isnan(setup.device_s), known_s, given_s)
    if inputs.is_synchronous:
        host_s = inputs.host_at(batch_size) / (_thread_share(setup) * setup.trainer_speed)
        known_s = known_s if inputs.is_device_cpu else np.maximum(known_s, host_s)
    return known_s * slowest_rank(inputs, setup)


def _overhead_s(inputs: ModelInputs, setup: Setup) -> NDArray[np.float64]:
    """Return what a step takes beyond a declared device time: the device does not work then."""
    if setup.device_s is None:
        return np.zeros(1)
    overhead_s = np.where(np.isnan(setup.device_s), 0.0, inputs.device_overhead_s)
    return overhead_s * slowest_rank(inputs, setup)
