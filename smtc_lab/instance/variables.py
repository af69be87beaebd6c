"""The environment variables by which the processes of an instance are told; each name once.

Names only: whatever starts a process may import this. Names that a room below owns (the home
folder, the CPU quota, record lines) are there.
"""

from __future__ import annotations

RUN_VARIABLE = "SMTC_RUN_ID"
"""The run's folder; every process of a run carries it."""

ROLE_VARIABLE = "SMTC_ROLE"
"""What the instance does: ``train`` or ``data``."""

RUNS_VARIABLE = "SMTC_RUNS"
"""``script``: a data instance runs the entry point; unset: it serves dataloaders."""

SEED_VARIABLE = "SMTC_SEED"
"""Seed of the job."""

ADDRESS_VARIABLE = "SMTC_ADDRESS"
"""Address that the instance listens on."""

HOSTS_VARIABLE = "SMTC_HOSTS"
"""Address of every host, as JSON."""

DATA_HOSTS_VARIABLE = "SMTC_DATA_HOSTS"
"""Names of the data instances, as JSON."""

NUM_WORKERS_VARIABLE = "SMTC_NUM_WORKERS"
"""Data workers that fit the process."""

NUM_LOADER_WORKERS_VARIABLE = "SMTC_NUM_LOADER_WORKERS"
"""Data workers of each trainer; unset: as the script says."""

DISTRIBUTION_VARIABLE = "SMTC_DISTRIBUTION"
"""How the trainers share the model, as JSON (``TrainerLayout``); unset: not said."""

LONE_TRAINER_VARIABLE = "SMTC_LONE_TRAINER"
"""Set where a job has one trainer and no ``distribution``, so that nobody is told of ranks: 1,
then the number of the process that runs the script. Those that it starts may be ranks of its
own. Unset: ranks are told as ``torchrun`` does."""

BESIDE_VARIABLE = "SMTC_BESIDE"
"""Set in ranks that a script started itself beside the one whose records are the trainer's."""

RENDEZVOUS_FOLDER_VARIABLE = "SMTC_RENDEZVOUS_FOLDER"
"""Folder in which all trainers of the job meet; unset: they meet at rank 0's port."""

STORE_FD_VARIABLE = "SMTC_STORE_FD"
"""Descriptor of the socket that is bound to that port; only rank 0 has it."""

MAX_STEPS_VARIABLE = "SMTC_MAX_STEPS"
"""Optimizer steps after which a trainer ends with success; unset: when the script ends."""

DEVICE_STEP_TIME_VARIABLE = "SMTC_DEVICE_STEP_TIME_S"
"""Declared step time of the emulated device in seconds; unset: there is none."""

LINK_VARIABLE = "SMTC_LINK"
"""Declared network of an emulation, as JSON (``LinkDeclaration``); unset: there is none."""

CHECKPOINT_FOLDER_VARIABLE = "SMTC_CHECKPOINT_FOLDER"
"""Folder of a trainer below its instance's checkpoints; unset: it has them all."""

COMPILER_VARIABLE = "SMTC_COMPILER"
"""The TrainingCompilerConfig as JSON; unset: plain eager."""

PARITY_STEPS_VARIABLE = "SMTC_PARITY_STEPS"
"""Steps of a parity launch; unset: an ordinary launch."""

PERMUTES_VARIABLE = "SMTC_PERMUTES"
"""1: a parity launch permutes the samples of each batch; unset: they come as they are."""

MEASURE_VARIABLE = "SMTC_MEASURE"
"""What a launch of a calibration measures, as JSON; unset: an ordinary launch."""

READY_VARIABLE = "SMTC_READY_FD"
"""Descriptor on which a process says that its work begins, and that it is done."""

FAILED_WORD = "failed"
"""With which a process tells its agent that its script has failed: nanoseconds of the monotonic
clock and the exit code follow."""

PROGRESS_VARIABLE = "SMTC_PROGRESS"
"""File of a trainer's counters (``StepCounters``); unset: nobody looks at them."""

STACKS_SIGNAL = 41
"""Signal at which one of several trainers writes its stacks to its log."""

FORKED_SETTING = "TRAINERS_FORKED"
"""Set by a job: 0 starts each of several trainers and instances by itself; else one process
imports torch and forks them."""

HUNG_AFTER_SETTING = "TRAINERS_HUNG_AFTER_S"
"""Set by a job: seconds after which trainers that all stand still are ended; 0: nobody looks;
unset: they are told of."""

ALLOW_PICKLE_SETTING = "DATASERVICE_ALLOW_PICKLE"
"""Set to 1 by a job: data servers may send pickles, and so run code in trainers."""

IN_PROCESS_SETTING = "DATASERVICE_IN_PROCESS"
"""Set to 1 by a job: dataloaders with ``num_workers=0`` are never fed by data instances."""

MEASURE_COMMUNICATION_SETTING = "MEASURE_COMMUNICATION"
"""Set to 0 by a job: what trainers exchange is not timed."""

NOISE_SCALE_SETTING = "GRADIENT_NOISE_SCALE"
"""Set to 1 by a job: norms of gradients before and after they are averaged are recorded."""

ATTEMPT_VARIABLE = "SMTC_ATTEMPT"
"""Number of the attempt that a process belongs to, from 1; not set: 1."""

MEAN_TIME_BETWEEN_VARIABLE = "SMTC_MEAN_TIME_BETWEEN_S"
"""Seconds of the run's clock for which its market leaves instances on average; unset or empty:
it is not known."""

DILATION_VARIABLE = "SMTC_DILATION"
"""Seconds of this machine that one of the cluster makes in the steps of an emulated spot job;
unset or empty: 1."""

WORKING_FOLDER_VARIABLE = "SMTC_WORKING_FOLDER"
"""Folder in which an entry point works; empty, or not there: in which it is started."""

RESUME_VARIABLE = "SMTC_RESUME"
"""``automatic``: a plain loop is kept and goes on by itself; unset: it is not."""

RESUME_EVERY_STEPS_SETTING = "RESUME_EVERY_STEPS"
"""Set by a job: steps after which ``resume="automatic"`` saves; unset: as often as pays."""

FINGERPRINTS_VARIABLE = "SMTC_FINGERPRINTS"
"""Set: each step's fingerprints are recorded."""
