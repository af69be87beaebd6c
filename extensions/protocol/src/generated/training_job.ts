/* Made by make_types.mjs from the JSON Schema of smtc_lab.spec. */

export type JsonValue = unknown;

/**
 * One run of one training script on one cluster. Goes to JSON and back unchanged.
 */
export interface TrainingJob {
  /**
   * Whether to train on spot instances, which may be taken away at any time: the run is
   * started again when there are others, and goes on from its last checkpoint.
   */
  use_spot_instances?: boolean;
  /**
   * Longest time from the launch to the end, waiting for instances included, in seconds; at
   * least ``max_runtime_s``, which is then the longest time with instances. Of an emulation's
   * steps it counts cluster time, and ``max_runtime_s`` this machine's. None: as long as it
   * takes; on SageMaker ``max_runtime_s`` and an hour.
   */
  max_wait?: number | null;
  /**
   * Where SageMaker keeps what lies in ``checkpoint_local_path``: ``s3://BUCKET/PREFIX``, of
   * this job alone, which its role may read and write. None: below its output. Elsewhere the
   * run's folder keeps it.
   */
  checkpoint_s3_uri?: string | null;
  /**
   * Folder of checkpoints on SageMaker's instances; None: ``/opt/ml/checkpoints``. Elsewhere
   * that lies below the run's own folder, whatever this says. ``SM_CHECKPOINT_DIR`` names it
   * everywhere, and ``session.checkpoint`` uses it.
   */
  checkpoint_local_path?: string | null;
  /**
   * ``automatic``: a plain loop that saves nothing is kept, and goes on after an interruption
   * where it was: models, optimizers, schedulers, scalers, random numbers and the place in the
   * data are seen from outside. A script that it cannot be done for is told why, and begins
   * anew. None: scripts call ``session.checkpoint``, or save and load by themselves.
   */
  resume?: 'automatic' | null;
  /**
   * Spot market that this machine plays; None: nothing is taken away but by hand.
   */
  market?: Market | null;
  /**
   * Path of the Python script that every trainer runs.
   */
  entry_point: string;
  cluster: Cluster;
  /**
   * 1 to 63 letters and digits with ``-`` between them; None: the launcher makes one from
   * the script's name and the time.
   */
  job_name?: string | null;
  /**
   * Values for the entry point, at most 100; each becomes ``--name value`` and
   * ``SM_HP_<NAME>``.
   */
  hyperparameters?: {
    [k: string]: JsonValue;
  };
  /**
   * Arguments that the entry point gets as they are, behind those of the hyperparameters, at
   * most 1,000: flags without a value, and all that has no name.
   *
   * @maxItems 1000
   */
  arguments?: string[];
  /**
   * Named inputs, at most 20.
   *
   * @maxItems 20
   */
  channels?: Channel[];
  /**
   * Metrics that are found in what the script prints, at most 40, as SageMaker has them:
   * ``[{"Name": "loss", "Regex": "loss=([0-9.]+)"}]``, each with exactly one group.
   *
   * @maxItems 40
   */
  metric_definitions?: {
    [k: string]: string;
  }[];
  /**
   * Extra environment variables for the entry point, at most 100.
   */
  environment?: {
    [k: string]: string;
  };
  /**
   * Python environment whose interpreter runs the entry point, by a name that ``smtc-lab
   * environment`` lists; ``today`` or None: the one that launches. On SageMaker an image is the
   * environment, on Ray that of its nodes: there this must be None.
   */
  python_environment?: string | null;
  /**
   * Folder in which the script works on this machine. ``own``: one of the launch's own, with
   * the files of the folder that it is launched from; what is new stays in it. ``here``:
   * that folder itself. None: ``own`` for a launch of a study, ``here`` for any other.
   */
  working_dir?: ('own' | 'here') | null;
  /**
   * Compiler settings; None: the step runs eagerly.
   */
  compiler_config?: TrainingCompilerConfig | null;
  /**
   * How the model is spread over devices; also SageMaker's own dicts. ``auto``: a trainer on
   * every accelerator. None: one trainer on each training instance.
   */
  distribution?: Distribution | 'auto' | null;
  /**
   * How missing hardware is stood in for; None: this machine is measured as it is.
   */
  emulation?: Emulation | null;
  /**
   * Seed of torch in every process, and of each sample's transforms; other than 0, or where
   * weights are compared bit for bit, of numpy and ``random``, too.
   */
  seed?: number;
  /**
   * Optimizer steps after which a run ends with success; None: when the script ends.
   */
  max_steps?: number | null;
  /**
   * Seconds after which the run is stopped; at most 28 days.
   */
  max_runtime_s?: number;
  /**
   * Data workers on each training instance; None: one for each core of its quota, and none
   * where a data group feeds a trainer that has less than a core to itself.
   */
  num_loader_workers?: number | null;
  /**
   * Data workers on each data instance; None: one for each core of its quota.
   */
  num_data_workers?: number | null;
}
/**
 * Takes the instances of a run away, and gives others after a while.
 *
 * It stands in for a cloud's spot market where runs are launched on this machine: processes
 * are really asked to end, and killed. With nothing but a notice it takes nothing by itself,
 * and waits to be asked (``run.interrupt()``).
 */
export interface Market {
  /**
   * Mean time for which instances are there, in seconds of the market; None: for ever.
   */
  mean_time_between_s?: number | null;
  /**
   * Coefficient of variation of that time, 0.1 to 10, of a Weibull distribution; 1: it is
   * exponential. Of public traces 1.5 to 2.6.
   */
  variation?: number;
  /**
   * Mean time until there are instances again, in seconds of the market, exponential.
   */
  mean_wait_s?: number;
  /**
   * Moments of interruptions in seconds of the market from the run's begin on, beside those
   * that are drawn. A moment without instances passes.
   *
   * @maxItems 10000
   */
  interruptions_s?: number[];
  /**
   * File with how many instances there are at each moment, in the public format:
   * ``{"metadata": {"gap_seconds": 600}, "data": [2, 2, 0]}``. The run is interrupted where
   * there are fewer than its own, and waits until there are as many. What comes behind its end
   * is as its last moment: where that has too few, and there is no ``max_wait``, the run fails.
   * None: there is none.
   */
  trace?: string | null;
  /**
   * Time from TERM to KILL, in seconds of this machine, 0 to 120; 0: no notice.
   */
  notice_s?: number;
  /**
   * Seconds of the market in one second of this machine: with 3,600 an hour passes in one. Of
   * an emulation that this machine runs: in one second of cluster time while it takes steps.
   */
  time_scale?: number;
}
/**
 * The instances to run it on.
 */
export interface Cluster {
  /**
   * The groups, in the order in which their instances are named ``algo-1``, ``algo-2``, …
   *
   * @minItems 1
   * @maxItems 5
   */
  instance_groups: InstanceGroup[];
  /**
   * What tables and charts call this cluster; None: ``homogeneous`` or ``heterogeneous``.
   */
  name?: string | null;
}
/**
 * Identical instances with one role. Takes SageMaker's own arguments, also by position.
 */
export interface InstanceGroup {
  /**
   * Name of the group in its job, 1 to 64 characters: letters, digits, ``_`` and ``-``.
   */
  instance_group_name: string;
  /**
   * A SageMaker training instance type (``ml.c5.9xlarge``), or ``local`` for this machine.
   */
  instance_type: string;
  /**
   * Number of instances, 1 to 10,000.
   */
  instance_count?: number;
  /**
   * ``train`` or ``data``; None leaves it to the types of the job's groups.
   */
  role?: ('train' | 'data') | null;
  /**
   * ``script``: instances of a data group run the entry point as it is, for scripts that
   * bring a data server of their own, as for SageMaker's heterogeneous clusters. None: they
   * serve the trainers' dataloaders, and run no line of it.
   */
  runs?: 'script' | null;
}
/**
 * A named input; an instance finds it under ``input/data/<channel_name>``.
 */
export interface Channel {
  /**
   * 1 to 64 letters, digits, ``.``, ``_`` or ``-``. Also gives ``SM_CHANNEL_<NAME>``.
   */
  channel_name: string;
  /**
   * A folder of this machine; on SageMaker also ``s3://bucket/prefix``.
   */
  source: string;
  /**
   * Groups that get this channel; empty: all. All channels of a job name groups, or none.
   */
  instance_group_names?: string[];
}
/**
 * Compiler settings of a job. Takes SageMaker's own arguments, and more by name.
 *
 * Each setting that can make a step faster is a factor of its own, so that a comparison can
 * tell what the compiler brings from what the optimizer, the precision or the memory bring.
 */
export interface TrainingCompilerConfig {
  /**
   * Whether the training step is handed to the compiler at all. False: the script runs as it
   * is, and every other setting is without effect.
   */
  enabled?: boolean;
  /**
   * Whether the compiler writes its intermediate files to ``output/data/compiler``. Slows the
   * first steps down.
   */
  debug?: boolean;
  /**
   * Compiler backend.
   */
  backend?: 'auto' | 'inductor' | 'xla' | 'eager';
  /**
   * Precision of matrix products. Whatever is below ``highest`` changes the numbers.
   */
  precision?: 'highest' | 'high' | 'medium' | 'bf16';
  /**
   * Whether the optimizer updates all parameters in one kernel, where torch has one for it.
   * Same formula; the last digits may differ.
   */
  fused_optimizer?: boolean;
  /**
   * Whether memory on the host that tensors gave back is kept for the next ones (glibc only).
   * The numbers stay the same; resident memory may grow.
   */
  keep_memory?: boolean;
  /**
   * Mode of ``torch.compile``; only for inductor.
   */
  mode?: 'default' | 'reduce-overhead' | 'max-autotune';
  /**
   * Whether inductor compiles for any shape. None: for the shapes that it sees, and for any
   * shape once one changed.
   */
  dynamic?: boolean | null;
  /**
   * Whether layers that repeat are compiled one by one, and once only, instead of the whole
   * model; only for inductor. None: where at least four layers are alike.
   */
  per_block?: boolean | null;
  /**
   * What happens when a model cannot be compiled: the run ends and says why, or goes on
   * eagerly and says so.
   */
  fallback?: 'error' | 'eager';
  /**
   * Seconds that one compilation may take, at most a day. XLA's cannot be interrupted: after
   * them the run ends, also with ``fallback="eager"``.
   */
  timeout_s?: number;
  /**
   * Whether compiled code is kept for later runs of this user; only for inductor.
   */
  cache?: boolean;
  /**
   * Whether a comparison checks that the losses and the final weights equal the eager ones,
   * in launches of their own.
   */
  check_parity?: boolean;
}
/**
 * How many trainers a job has, and how they share its model.
 *
 * ``data`` times ``shard`` times ``pipeline`` times ``tensor`` is the number of trainers. Each
 * training instance has as many as its type has accelerators; where it has none, or is
 * ``local``, as many as the product says. Ranks count through ``tensor`` first and through
 * ``pipeline`` last. SageMaker's own dicts, also ``torch_distributed`` and ``mpi``, become one
 * of these.
 */
export interface Distribution {
  /**
   * Replicas of the model, each with batches of its own; None: what the trainers leave.
   */
  data?: number | null;
  /**
   * Trainers that share the parameters of one replica (FSDP2; with several replicas HSDP).
   */
  shard?: number;
  /**
   * Trainers that each run a stage of one replica, cut where it is best. The script calls
   * ``session.step``.
   */
  pipeline?: number;
  /**
   * Equal parts of each batch that go through the stages one after the other; None: two for
   * each trainer of the pipeline.
   */
  microbatches?: number | null;
  /**
   * In which order the stages of a pipeline compute.
   */
  schedule?:
    'gpipe' | '1f1b' | 'interleaved1f1b' | 'loopedbfs' | 'interleavedzerobubble' | 'zbvzerobubble' | 'dualpipev';
  /**
   * Trainers of one instance that each have a part of every layer of a replica, where its
   * blocks are known. The script calls ``session.prepare``.
   */
  tensor?: number;
  /**
   * What the stages of a pipeline are cut by: 0 equal times, 1 equal memory.
   */
  memory_weight?: number;
  /**
   * Whether layers keep their inputs alone, and compute their activations again in the
   * backward pass. The script calls ``session.prepare``.
   */
  activation_checkpointing?: boolean;
  /**
   * Whether what layers keep for the backward pass waits in host memory; on GPUs, alone or
   * with ``activation_checkpointing``. The script calls ``session.prepare``.
   */
  activation_offload?: boolean;
  /**
   * Stage of a module of a pipeline, and of all inside it, by its name; the rest is cut where
   * it is best.
   */
  pins?: {
    [k: string]: number;
  };
  /**
   * Stage of all modules that are not pinned; None: where it is best.
   */
  default_partition?: number | null;
  /**
   * What each trainer of a pipeline may hold: parameters, gradients, optimizer, activations.
   * None: what an emulated device has; on other devices there is no limit.
   */
  limit_bytes?: number | null;
  /**
   * Trainers of each training instance; None: one for each accelerator, or what the product
   * leaves it.
   */
  processes_per_host?: number | null;
  /**
   * The groups that train, where SageMaker's dict names them; empty: as their roles say.
   */
  instance_groups?: string[];
}
/**
 * How the local launcher stands in for instance types that this machine is not.
 *
 * Everything of the cluster goes slower by one factor, the time dilation D: a vCPU does 1/D of
 * the work that one of its type does in a second, the declared device takes D times as long,
 * latencies of the declared network are D times as long and its bandwidths 1/D. So the ratios
 * are the cluster's, and what was timed is divided by D where it is told: that is cluster
 * time. Such numbers carry the word ``emulated`` everywhere.
 */
export interface Emulation {
  /**
   * Seconds of this machine that one second of the cluster takes, at least 1. None: what
   * ``cores_per_vcpu`` asks for, else the least at which the vCPUs of the largest cluster of a
   * comparison fit into half of this machine. A launcher writes down which it took.
   */
  time_dilation?: number | null;
  /**
   * Cores of this machine that stand for one vCPU of relative speed 1: an older way to ask
   * for a time dilation, which is the larger, the smaller this is. With ``time_dilation`` given
   * it follows from that.
   */
  cores_per_vcpu?: number | null;
  /**
   * Seconds that one step takes on the real accelerator; in a pipeline, the step of all
   * stages together. None: no emulated device, the step takes what it takes on the emulated
   * instance's CPU.
   */
  device_step_time_s?: number | null;
  /**
   * Read and ignored: an older version wrote it, which slowed devices down less than CPUs.
   */
  time_stretch?: number;
  /**
   * Declared network between trainers; may be given as its line,
   * ``inside=10Gbit/20us,between=1Gbit/100us``. None: instances have the rated bandwidth of the
   * catalog where this machine stands for them and it is known; else trainers exchange as fast
   * as the machine does. Batches always come over the catalog's.
   */
  link?: EmulatedLink | null;
  /**
   * Speed of one vCPU by instance type or family (``c5``), where the catalog's estimate is
   * not wanted. 1.0 is the reference that the catalog names.
   */
  relative_cpu_speed?: {
    [k: string]: number;
  };
}
/**
 * The network that an emulation declares between its trainers.
 *
 * Gradients are really averaged, and come when this network would have brought them: after
 * the latency and the bytes of a ring over all trainers, one bucket at a time, from the
 * moment when the slowest trainer is there. What stages of a pipeline send each other comes
 * after latency and bytes from when it was computed; what a trainer sends at once queues. Its
 * seconds are those of the cluster, as the declared device's. It is in force for what
 * ``DistributedDataParallel`` and FSDP2 exchange, between stages, and for sums of trainers
 * that share layers.
 */
export interface EmulatedLink {
  /**
   * Bandwidth between instances, each way, in Gbit/s. None: the rated one of the slowest
   * instance type that trains, or reduces, as the catalog has it.
   */
  between_gbps?: number | null;
  /**
   * Time of an empty message between instances in seconds.
   */
  between_latency_s?: number;
  /**
   * Bandwidth between devices of one instance, each way, in Gbit/s. None: not declared, as
   * the catalog has none; they exchange as fast as this machine does.
   */
  inside_gbps?: number | null;
  /**
   * Time of an empty message inside an instance in seconds.
   */
  inside_latency_s?: number;
}
