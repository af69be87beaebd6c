/* Made by make_types.mjs from the JSON Schema of smtc_lab.views.wire_schema. */

import type { ISchema } from '../schema.js';

/**
 * What a set-up would be with one more group, which prepares data.
 */
export interface IAddedGroup {
  /**
   * Type of its one instance.
   */
  readonly instanceType: string;

  /**
   * Mean step time in seconds.
   */
  readonly stepTimeS: number;

  /**
   * Mean cost of 1,000 steps in USD; None: a price is unknown.
   */
  readonly usdPer1000Steps: number | null;
}

/**
 * What became of all futures under one policy. Predicted.
 */
export interface IAnsweredPolicy {
  /**
   * Its name.
   */
  readonly policy: string;

  /**
   * Cost in USD, with the ends between which 90 % of the futures lie.
   */
  readonly usd: IInterval;

  /**
   * Time until the end in seconds, with the same ends.
   */
  readonly finishS: IInterval;

  /**
   * Share of the futures that end in time, 0 to 1; None: there is no deadline.
   */
  readonly deadlineProbability: number | null;

  /**
   * Share of the futures that end at all, 0 to 1; below 1 cost and time are at least so.
   */
  readonly endedFraction: number;

  /**
   * Work between two saves that costs least, in seconds; None: it saves once.
   */
  readonly saveEveryS: number | null;

  /**
   * What a job says to be trained so; None: no job can say it.
   */
  readonly useSpotInstances: boolean | null;
}

/**
 * A sign of life.
 */
export interface IBeatInfo {
  /**
   * Rises with each.
   */
  readonly number: number;

  /**
   * How long what is watched has lasted, in seconds; None: it has not begun.
   */
  readonly elapsedS: number | null;
}

/**
 * The best objective from the end of a trial on.
 */
export interface IBestInfo {
  /**
   * Trials that have ended by then.
   */
  readonly trials: number;

  /**
   * What they have cost together, in USD; None: unknown.
   */
  readonly usd: number | null;

  /**
   * Number of the best one.
   */
  readonly trial: number;

  /**
   * Its objective.
   */
  readonly objective: number;
}

/**
 * The billed time of one launch in its parts, or the means over several launches.
 */
export interface IBill {
  /**
   * From the start of the instances to the begin of the first step of any rank, in seconds:
   * instances, interpreter, imports, data and model made; of an attempt that came so far. None:
   * no step, or no start known.
   */
  readonly startupS: number | null;

  /**
   * From there to the end of the last step of any rank, in seconds, of an emulated run in
   * cluster time: warm-up, compiling and what the script does between steps included,
   * interruptions not. None: no step.
   */
  readonly stepsS: number | null;

  /**
   * From there to the end of the last instance, in seconds: what the script does after its
   * last step, the exits of its processes, the end of data instances. None: it has not ended,
   * or no step.
   */
  readonly endS: number | null;

  /**
   * All of it, in seconds of the clock: the sum of the parts where they are known and the
   * steps are not told in cluster time. None: not ended, or no start known.
   */
  readonly billedS: number | null;

  /**
   * Price of ``startup_s`` in USD; None: that or a price is unknown, or it was emulated.
   */
  readonly startupUsd: number | null;

  /**
   * Price of ``steps_s`` in USD; None: that or a price is unknown.
   */
  readonly stepsUsd: number | null;

  /**
   * Price of ``end_s`` in USD; None: that or a price is unknown, or it was emulated.
   */
  readonly endUsd: number | null;

  /**
   * Price of ``billed_s`` in USD; None: that or a price is unknown, or it was emulated and
   * would add up two clocks.
   */
  readonly billedUsd: number | null;

  /**
   * Interruptions; of several launches their mean. None, as in what follows: none.
   */
  readonly numInterruptions: number | null;

  /**
   * Billed time between the last step that counts before an interruption and the next one,
   * in seconds: steps done again, notice, start of the next attempt; of a run without a step
   * all attempts that were interrupted.
   */
  readonly interruptionsS: number | null;

  /**
   * Price of ``interruptions_s`` in USD; None also: not known, or it was emulated.
   */
  readonly interruptionsUsd: number | null;

  /**
   * Time without instances after interruptions, in seconds. It is not billed.
   */
  readonly waitedS: number | null;

  /**
   * ``emulated``: the steps are in cluster time, start-up and end are this machine's own.
   */
  readonly evidence: 'measured' | 'emulated';
}

/**
 * Where the bins of a frame lie.
 */
export interface IBinsHead {
  /**
   * Number of the first row of the first bin.
   */
  readonly first: number;

  /**
   * Rows of each bin, above 1.
   */
  readonly width: number;
}

/**
 * How far a calibration is that was begun here.
 */
export interface ICalibrating {
  /**
   * ``idle``: nobody asked for one in this process. ``stopping``: it was asked to end.
   */
  readonly state: 'idle' | 'calibrating' | 'stopping' | 'done' | 'stopped' | 'failed';

  /**
   * What is being done, or why it failed; empty: there is nothing to say.
   */
  readonly sentence: string;

  /**
   * Number of the launch that runs now, from 1; 0: none has begun.
   */
  readonly launch: number;

  /**
   * Launches in all; 0: not known yet.
   */
  readonly launches: number;
}

/**
 * The clusters of the catalog for one workload, in time against cost.
 */
export interface ICatalogPlan {
  /**
   * The clusters, as a plan predicts them: on their own instances, without an emulation. What
   * is said of each in sentences is left out.
   */
  readonly plan: IPlanInfo;

  /**
   * The instance groups of each of its points, in their order.
   */
  readonly groups: readonly (readonly IPlannedGroup[])[];
}

/**
 * What a form is told of all clusters that its set-ups could have.
 */
export interface ICatalogPlans {
  /**
   * Version of this description.
   */
  readonly version: 1;

  /**
   * The set-ups as JSON, as they were when it was made; empty: nobody asked yet.
   */
  readonly of: string;

  /**
   * One for each workload that is calibrated and each number of devices.
   */
  readonly plans: readonly ICatalogPlan[];

  /**
   * Where each set-up is, in their order.
   */
  readonly setUps: readonly IPlacedSetUp[];
}

/**
 * What a run logged of one metric, in B bins of at least one value; None: no number.
 */
export interface IComparedCurve {
  /**
   * What the script calls it.
   */
  readonly metric: string;

  /**
   * Step of each bin, B numbers that never decrease.
   */
  readonly step: readonly (number | null)[];

  /**
   * Time since the begin of the run in seconds, B numbers that never decrease.
   */
  readonly timeS: readonly (number | null)[];

  /**
   * What the run had cost by then in USD; empty: a price is unknown, or it is emulated.
   */
  readonly usd: readonly (number | null)[];

  /**
   * Mean of the finite values of each bin.
   */
  readonly value: readonly (number | null)[];

  /**
   * Least one of each bin; empty: as ``value``.
   */
  readonly low: readonly (number | null)[];

  /**
   * Greatest one of each bin; empty: as ``value``.
   */
  readonly high: readonly (number | null)[];

  /**
   * Values that were logged.
   */
  readonly numValues: number;

  /**
   * Those that are finite numbers.
   */
  readonly numFinite: number;
}

/**
 * One run among those that are compared.
 */
export interface IComparedRun {
  /**
   * Its name.
   */
  readonly name: string;

  /**
   * What of its name is not the same in all.
   */
  readonly label: string;

  /**
   * Why it, or a part of it, cannot be read; empty: all was read.
   */
  readonly problem: string;

  /**
   * Where its times come from; None: unknown.
   */
  readonly evidence: 'measured' | 'emulated' | null;

  /**
   * Samples that all trainers together take in a step; None: unknown.
   */
  readonly samplesPerStep: number | null;

  /**
   * Facts that are numbers, as in the table of runs: ``cost_usd``, ``param.lr``, …
   */
  readonly numbers: ReadonlyMap<string, number>;

  /**
   * All other facts: ``state``, ``script``, …
   */
  readonly texts: ReadonlyMap<string, string>;

  /**
   * What it logged.
   */
  readonly curves: readonly IComparedCurve[];
}

/**
 * Where a comparison stands, and what is seen so far.
 */
export interface IComparisonInfo {
  /**
   * Name of the comparison.
   */
  readonly name: string;

  /**
   * The script that is run.
   */
  readonly entryPoint: string;

  /**
   * SageMaker's spelling.
   */
  readonly state: string;

  /**
   * Whether nothing more will happen.
   */
  readonly ended: boolean;

  /**
   * Why it is in that state; empty: there is nothing to say.
   */
  readonly reason: string;

  /**
   * Seconds since it began, or from its begin to its end; 0 where nothing is known of its
   * launches.
   */
  readonly elapsedS: number;

  /**
   * Launches in all, as far as it is known.
   */
  readonly launches: number;

  /**
   * Launches of each set-up that were asked for; 0: its launches are in no round.
   */
  readonly rounds: number;

  /**
   * Whether all hardware is there.
   */
  readonly evidence: 'measured' | 'emulated';

  /**
   * The scale of the emulation in words; empty: nothing is emulated.
   */
  readonly scale: string;

  /**
   * The verdict of the completed rounds, or why there is none yet.
   */
  readonly sentence: string;

  /**
   * Whether ``sentence`` is the final verdict.
   */
  readonly isVerdict: boolean;

  /**
   * What is compared, the baseline first. Set-up i above 0 has the table ``ratio:<i>``.
   */
  readonly setUps: readonly ISetUpInfo[];

  /**
   * The launches so far; none, of a comparison that has completed: they are not known.
   */
  readonly launched: readonly ILaunchInfo[];

  /**
   * The table of set-ups.
   */
  readonly rows: readonly IRowInfo[];

  /**
   * The prices with their dates, and what cannot be read.
   */
  readonly notes: readonly string[];

  /**
   * What a reader must know before trusting the numbers.
   */
  readonly findings: readonly IFindingInfo[];

  /**
   * The lines of a notebook that do the same; empty: they cannot be written.
   */
  readonly code: string;

  /**
   * Whether somebody is billed for its launches; None: nobody knows, or nothing was
   * launched.
   */
  readonly isBilled: boolean | null;

  /**
   * By set-up and cause, what 1,000 steps cost; no part of one whose price is unknown, or
   * that made no step. Empty also: an older version wrote it, which did not tell.
   */
  readonly stepsCost: readonly IStepsCostPart[];

  /**
   * The same of one launch; no part of one that was emulated, whose start-up and end are on a
   * scale of their own.
   */
  readonly launchCost: readonly ILaunchCostPart[];

  /**
   * What its kind says of its own.
   */
  readonly sections: readonly ISection[];
}

/**
 * What became of the compiler that was asked for.
 */
export interface ICompilerInfo {
  /**
   * What was asked for, and once it is known what ran: ``eager``, ``inductor``, ``xla`` …
   */
  readonly backend: string;

  /**
   * What the first trainer's report says in sentences; empty: there is none yet.
   */
  readonly words: readonly string[];
}

/**
 * What a form is told of compiler settings that were measured.
 */
export interface ICompilerLadders {
  /**
   * Version of this description.
   */
  readonly version: 1;

  /**
   * The set-ups as JSON, as they were when it was made; empty: nobody asked yet.
   */
  readonly of: string;

  /**
   * Why no answer came, in words; empty: one did.
   */
  readonly problem: string;

  /**
   * One for each set-up, in their order.
   */
  readonly setUps: readonly ISetUpLadder[];
}

/**
 * A ``Curve`` as JSON; null: not known.
 */
export interface ICurveInfo {
  /**
   * Names of the columns.
   */
  readonly columns: readonly string[];

  /**
   * Rows of the table.
   */
  readonly numRows: number;

  /**
   * Rows of each bin; 1: these are the rows.
   */
  readonly width: number;

  /**
   * Of each column, the mean of each bin.
   */
  readonly mean: readonly (readonly (number | null)[])[];

  /**
   * Least values; left out where ``width`` is 1.
   */
  readonly low?: readonly (readonly (number | null)[])[];

  /**
   * Greatest values; left out where ``width`` is 1.
   */
  readonly high?: readonly (readonly (number | null)[])[];

  /**
   * The last row; left out by versions that did not keep it apart.
   */
  readonly last?: readonly (number | null)[];
}

/**
 * One thing that is not the same.
 */
export interface IDifference {
  /**
   * ``job``, ``code``, ``packages``, ``machine``, ``prices`` or ``metrics``.
   */
  readonly section: string;

  /**
   * What: ``hyperparameters.lr``, ``model.py``, ``torch``, …
   */
  readonly name: string;

  /**
   * What each run has; ``—``: nothing, ``?``: not written down.
   */
  readonly values: readonly string[];
}

/**
 * One environment, as far as it is known.
 */
export interface IEnvironmentChoice {
  /**
   * What a job calls it.
   */
  readonly name: string;

  /**
   * Version of torch; None: it has none, or was not asked yet.
   */
  readonly torch: string | null;

  /**
   * Version of torch_xla; None: it has none, or was not asked yet.
   */
  readonly torchXla: string | null;

  /**
   * Why no job can run in it; empty: one can, or it was not asked yet.
   */
  readonly problem: string;

  /**
   * Why the compiler backend ``xla`` cannot be used in it; empty: it can, or it was not
   * asked yet.
   */
  readonly noXla: string;
}

/**
 * The Python environments of a machine.
 */
export interface IEnvironments {
  /**
   * The one that launches first.
   */
  readonly choices: readonly IEnvironmentChoice[];

  /**
   * Why a job that names no environment cannot use the backend ``xla``; empty: it can.
   */
  readonly noXla: string;

  /**
   * How far the environment of XLA is, which a form can have made.
   */
  readonly making: IMaking;
}

export interface IEstimate {
  /**
   * The mean, never the median.
   */
  readonly value: number;

  /**
   * Lower end of the interval.
   */
  readonly low: number;

  /**
   * Upper end of the interval.
   */
  readonly high: number;

  /**
   * Share of such intervals that hold the truth, 0 to 1.
   */
  readonly level: number;

  /**
   * Where it comes from.
   */
  readonly evidence: 'measured' | 'emulated' | 'predicted' | 'estimated' | 'unknown';
}

/**
 * Something that happened once.
 */
export interface IEventInfo {
  /**
   * Seconds since the begin of the run.
   */
  readonly timeS: number;

  /**
   * ``state``, ``exit``, ``ready``, ``data``, ``compiler``, ``warning`` or ``failure``.
   */
  readonly kind: string;

  /**
   * ``algo-1``, …, or empty for the run as a whole.
   */
  readonly host: string;

  /**
   * One sentence.
   */
  readonly message: string;
}

/**
 * Something that could be better, or that a reader must know.
 */
export interface IFindingInfo {
  /**
   * ``warning``: it costs time, or trust.
   */
  readonly severity: 'warning' | 'note';

  /**
   * Where it was found, what it is, and what it costs where that is known.
   */
  readonly sentence: string;

  /**
   * What to do about it; empty: nothing.
   */
  readonly fix: string;

  /**
   * Line of Python, or of a shell, that begins to do it; empty: none is offered.
   */
  readonly action: string;
}

/**
 * What a form is told of its set-ups before they run.
 */
export interface IForecast {
  /**
   * Version of this description.
   */
  readonly version: 1;

  /**
   * The set-ups as JSON, as they were when it was made; empty: nobody asked yet.
   */
  readonly of: string;

  /**
   * What is predicted of each of them, in their order.
   */
  readonly setUps: readonly IForecastSetUp[];

  /**
   * Seconds that all launches of the comparison take about, one after another; None: that of
   * one is not known.
   */
  readonly comparisonS: number | null;

  /**
   * What all launches would cost on the instances that are named, in USD: their steps alone
   * where a set-up is emulated. None: the steps or the price of one are not known.
   */
  readonly comparisonUsd: number | null;

  /**
   * What calibrating would take; None: every set-up that can be has a calibration.
   */
  readonly missing: IMissingCalibrations | null;

  /**
   * How far a calibration is.
   */
  readonly calibrating: ICalibrating;
}

/**
 * What is predicted of one set-up, as its run in this comparison would show it.
 *
 * Where ``problem`` says why nothing is predicted, every number is None.
 */
export interface IForecastSetUp {
  /**
   * Why nothing is predicted, and what to do; empty: it is.
   */
  readonly problem: string;

  /**
   * What it is predicted with; None: there is none, or it is not the reason.
   */
  readonly calibration: IKeptCalibration | null;

  /**
   * Whether its run here would be emulated, which is told in cluster time.
   */
  readonly isEmulated: boolean;

  /**
   * Mean step time in seconds.
   */
  readonly stepTimeS: IEstimate | null;

  /**
   * Price of all instances in USD per hour; None: one is unknown.
   */
  readonly usdPerHour: number | null;

  /**
   * Cost of 1,000 steps in USD; None: a price is unknown.
   */
  readonly usdPer1000Steps: IEstimate | null;

  /**
   * Cost of ``job_s`` in USD; None: that or a price is unknown.
   */
  readonly usdPerJob: IEstimate | null;

  /**
   * The job in seconds, start-up and end included; of an emulated one its steps alone, since
   * the rest is on another scale. None: the number of steps or the start-up is not known.
   */
  readonly jobS: IEstimate | null;

  /**
   * The stage that takes longest.
   */
  readonly bottleneck: 'cpu' | 'network' | 'serial' | 'device' | null;

  /**
   * Whether another stage takes almost as long.
   */
  readonly isNearTie: boolean;

  /**
   * Data workers of a training instance where they, and not its vCPUs, limit the CPU stage;
   * 0: trainers prepare their samples themselves. None: other things limit.
   */
  readonly limitingWorkers: number | null;

  /**
   * What to try first where data workers limit, as a plan says it; empty: nothing.
   */
  readonly advice: string;

  /**
   * How far from its calibration the prediction is.
   */
  readonly evidence: 'predicted' | 'extrapolated' | 'estimated' | null;

  /**
   * Why a figure is unknown, and what to know before trusting the numbers; sentences.
   */
  readonly cautions: readonly string[];

  /**
   * How busy its parts would be.
   */
  readonly utilization: IPartUse;

  /**
   * Samples that data instances prepare, of 1; None: there are none, or the model cannot
   * tell.
   */
  readonly dataShare: number | null;

  /**
   * For each instance group what other types would bring.
   */
  readonly offers: readonly ITypeOffers[];

  /**
   * What a data group would bring; None: it has one, or the model cannot say.
   */
  readonly added: IAddedGroup | null;
}

/**
 * What was predicted of a set-up before it ran, as its launches here would show it.
 */
export interface IForetold {
  /**
   * Mean step time in seconds.
   */
  readonly stepTimeS: IInterval;

  /**
   * Cost of 1,000 steps in USD; None: a price is unknown.
   */
  readonly usdPer1000Steps: IInterval | null;

  /**
   * How busy its parts would be.
   */
  readonly use: IPartUse;
}

/**
 * What a frame says of its buffers.
 */
export interface IFrameHead {
  /**
   * ``rows`` go behind those that are there, ``reset`` replaces all of them, ``part`` is
   * what was asked for: it is looked at, not kept.
   */
  readonly type: 'rows' | 'reset' | 'part';

  /**
   * Name of the table.
   */
  readonly table: string;

  /**
   * Names of the columns.
   */
  readonly columns: readonly string[];

  /**
   * Number of the first row in its table, from 0.
   */
  readonly first: number;

  /**
   * In a ``reset``, of the rows before ``first``, where they are too many to send; in a
   * ``part``, of the rows that were asked for.
   */
  readonly bins?: IBinsHead | null;
}

/**
 * One instance group.
 */
export interface IGroupInfo {
  /**
   * Name of the group.
   */
  readonly name: string;

  /**
   * Type of its instances.
   */
  readonly instanceType: string;

  /**
   * How many there are.
   */
  readonly instanceCount: number;

  /**
   * ``train``, ``data``, or empty: not known.
   */
  readonly role: string;

  /**
   * Names of its instances: ``algo-1``, …
   */
  readonly hosts: readonly string[];

  /**
   * CPU quota of one instance in cores of this machine; None: it has none.
   */
  readonly cpuQuotaCores: number | null;
}

/**
 * One SageMaker training instance type.
 *
 * Source:
 *     AWS DescribeInstanceTypes, 2026-05. None where AWS gives no value.
 */
export interface IInstanceType {
  /**
   * SageMaker's name, for example ``ml.c5.9xlarge``.
   */
  readonly name: string;

  /**
   * vCPUs: hardware threads, two for each core where ``threads_per_core`` is 2.
   */
  readonly vcpus: number;

  /**
   * Memory in GiB.
   */
  readonly memoryGib: number;

  /**
   * Name of the GPU or Trainium chip; None: the type has none.
   */
  readonly accelerator: string | null;

  /**
   * Number of GPUs or Trainium chips.
   */
  readonly acceleratorCount: number;

  /**
   * Memory of one accelerator in GiB; None: unknown, or the type has none.
   */
  readonly acceleratorMemoryGib: number | null;

  /**
   * Rated network bandwidth in Gbit/s, the baseline for "up to" types; None: unknown.
   */
  readonly networkGbps: number | null;

  /**
   * On-demand training price; None: no source, so its cost is unknown, not zero.
   */
  readonly price: IPrice | null;
}

/**
 * One interruption, from the last step that counts to the next one.
 *
 * Moments are seconds since the begin of the run.
 */
export interface IInterruptionInfo {
  /**
   * End of the last step that counts.
   */
  readonly fromS: number;

  /**
   * When the instances were gone.
   */
  readonly goneS: number;

  /**
   * When the next attempt began, or the run ended without one; None: it still waits.
   */
  readonly backS: number | null;

  /**
   * Begin of the next step that counts; None: the next attempt made none, or not yet, or it
   * is the first one, before which the run starts up.
   */
  readonly untilS: number | null;

  /**
   * Number of that step.
   */
  readonly step: number;

  /**
   * Time without instances, which is not billed, in seconds; 0 while it waits.
   */
  readonly waitedS: number;

  /**
   * Billed time that made no step that counts, in seconds.
   */
  readonly lostS: number;

  /**
   * Its price in USD; None: a price is unknown, or it was emulated.
   */
  readonly lostUsd: number | null;

  /**
   * What interrupted it, one sentence; empty: it was not told.
   */
  readonly reason: string;
}

/**
 * A mean, and the two ends between which the truth lies in ``level`` of all cases.
 */
export interface IInterval {
  /**
   * The mean, never the median.
   */
  readonly mean: number;

  /**
   * Lower end of the interval.
   */
  readonly low: number;

  /**
   * Upper end of the interval.
   */
  readonly high: number;

  /**
   * Share of such intervals that hold the truth, 0 to 1.
   */
  readonly level: number;

  /**
   * Where it comes from.
   */
  readonly evidence: 'measured' | 'emulated' | 'predicted' | 'estimated' | 'unknown';

  /**
   * What it is over.
   */
  readonly spread: 'launches' | 'steps' | 'none' | 'unknown';

  /**
   * Set-ups, compared with one baseline, that ``level`` is over.
   */
  readonly candidates: number;

  /**
   * Moments of a running comparison that ``level`` is over.
   */
  readonly looks: number;
}

/**
 * The calibration that a set-up is predicted with.
 */
export interface IKeptCalibration {
  /**
   * When it was made, as ISO date and time in UTC.
   */
  readonly created: string;

  /**
   * What it was made on, in words.
   */
  readonly machine: string;

  /**
   * Declared seconds per step of an emulated device; None: there was none.
   */
  readonly emulatedDeviceS: number | null;
}

/**
 * What one setting of the compiler brought by itself, in the newest comparison of it.
 */
export interface ILadderRung {
  /**
   * Name of the setting: ``backend``, ``precision``, …
   */
  readonly setting: string;

  /**
   * Its value in the set-up that it is told against.
   */
  readonly before: string;

  /**
   * Its value in the set-up that has it.
   */
  readonly after: string;

  /**
   * Share of the step time that ``after`` saves; negative: its steps take longer.
   */
  readonly savedFraction: IInterval;

  /**
   * Whether the interval tells that there is a difference.
   */
  readonly isSeen: boolean;

  /**
   * Seconds that the first steps took longer with ``after``, compiling included.
   */
  readonly addedS: IInterval;

  /**
   * Where that is from.
   */
  readonly measured: IMeasuredIn;
}

/**
 * A part of what one launch of a set-up costs, a mean over its launches.
 */
export interface ILaunchCostPart {
  /**
   * Place of the set-up.
   */
  readonly setUp: number;

  /**
   * What is paid for.
   */
  readonly cause: 'startup' | 'first_steps' | 'steps' | 'all_steps' | 'interruptions' | 'end';

  /**
   * In USD.
   */
  readonly usd: number;

  /**
   * Whether it is paid while no step is made that would be made again.
   */
  readonly isWaiting: boolean;
}

/**
 * One launch. Launch k, from 0, has the tables ``k/steps`` and ``k/system:<host>``.
 */
export interface ILaunchInfo {
  /**
   * Name of the run.
   */
  readonly jobName: string;

  /**
   * What is launched.
   */
  readonly label: string;

  /**
   * Place of its set-up; None: it checks parity only, and has no tables.
   */
  readonly setUp: number | null;

  /**
   * Number of its round, from 1; None: it checks parity only.
   */
  readonly round: number | null;

  /**
   * SageMaker's spelling; while it is in progress the secondary state that tells more.
   */
  readonly state: string;

  /**
   * Steps so far, warm-up included.
   */
  readonly steps: number;

  /**
   * Steps that it will take; None: not known.
   */
  readonly maxSteps: number | null;

  /**
   * Steps at its begin that are left out, as far as it is known by now.
   */
  readonly warmUpSteps: number;
}

/**
 * The last lines that the instances of a run printed.
 */
export interface ILogInfo {
  /**
   * Host, or trainer of one, and text of each line, in the order in which they were read.
   */
  readonly lines: readonly (readonly [string, string])[];

  /**
   * Lines that have no end yet: a progress bar as it is now.
   */
  readonly unfinished: readonly (readonly [string, string])[];

  /**
   * Lines that were read and are not among them.
   */
  readonly leftOut: number;

  /**
   * Hosts, or trainers of one, that have printed nothing so far.
   */
  readonly silent: readonly string[];
}

/**
 * A part of what a step takes longer than ideally.
 */
export interface ILostInfo {
  /**
   * What it is lost to.
   */
  readonly cause: 'data_wait' | 'stragglers' | 'communication' | 'compute' | 'other';

  /**
   * In seconds; below 0: it takes less than ideally.
   */
  readonly sPerStep: IInterval;
}

/**
 * How far the environment of XLA is.
 */
export interface IMaking {
  /**
   * ``idle``: nobody asked for it in this process.
   */
  readonly state: 'idle' | 'making' | 'done' | 'failed';

  /**
   * What is being done, or why it failed; empty: there is nothing to say.
   */
  readonly sentence: string;
}

/**
 * The comparison that something was measured in.
 */
export interface IMeasuredIn {
  /**
   * Name of the comparison.
   */
  readonly name: string;

  /**
   * When it was made, as ISO date and time with time zone.
   */
  readonly created: string;

  /**
   * Its instances, in words: their numbers and types.
   */
  readonly instances: string;

  /**
   * Whether the script's file was changed since.
   */
  readonly isScriptChanged: boolean;
}

/**
 * A run of the workload, beside what was predicted of its cluster.
 */
export interface IMeasuredInfo {
  /**
   * Its instances.
   */
  readonly label: string;

  /**
   * Name of the run.
   */
  readonly jobName: string;

  /**
   * Whether it had instances that prepare data.
   */
  readonly isHeterogeneous: boolean;

  /**
   * Whether the run was over when it was measured.
   */
  readonly hasEnded: boolean;

  /**
   * ``measured`` or ``emulated``.
   */
  readonly evidence: 'measured' | 'emulated' | 'predicted' | 'extrapolated' | 'estimated';

  /**
   * Mean step time behind the warm-up, with its 95 % interval, in seconds.
   */
  readonly stepTimeS: IEstimate;

  /**
   * What was predicted, with its 80 % interval, in seconds.
   */
  readonly predictedS: IEstimate;

  /**
   * (predicted - measured) / measured. 0.05: 5 % too slow was predicted.
   */
  readonly errorFraction: number;

  /**
   * Cost of 1,000 steps in USD; None: a price is unknown.
   */
  readonly usdPer1000Steps: IEstimate | null;
}

/**
 * When settings have earned back what their first steps take.
 */
export interface IMeasuredPay {
  /**
   * What they were measured against.
   */
  readonly baseline: string;

  /**
   * Steps after which both have taken the same time; None: never, by what was seen.
   */
  readonly steps: IInterval | null;

  /**
   * Seconds of training until then, start-up left out; None: as above.
   */
  readonly afterS: IInterval | null;

  /**
   * Whether the steps are certainly slower than those of the baseline.
   */
  readonly isSlower: boolean;

  /**
   * Where that is from.
   */
  readonly measured: IMeasuredIn;
}

/**
 * One metric that a script logs.
 */
export interface IMetricInfo {
  /**
   * What the script calls it.
   */
  readonly name: string;

  /**
   * Name of its table: ``step``, ``time_s``, ``value``.
   */
  readonly table: string;

  /**
   * The newest value; None: it is no number, or an infinite one.
   */
  readonly last: number | null;

  /**
   * The least value; None: there is none.
   */
  readonly least: number | null;

  /**
   * The greatest value; None: there is none.
   */
  readonly greatest: number | null;

  /**
   * How many values there are, those that are no numbers too.
   */
  readonly points: number;
}

/**
 * What calibrating the set-ups would take.
 */
export interface IMissingCalibrations {
  /**
   * Scripts with their hyperparameters that have no calibration yet, at least 1.
   */
  readonly workloads: number;

  /**
   * Launches of all of them together.
   */
  readonly launches: number;

  /**
   * Seconds that it takes about; an assumption until it is begun.
   */
  readonly aboutS: number;

  /**
   * What it runs.
   */
  readonly sentence: string;
}

/**
 * A cell of the notebook that was run, and that can be run as a script.
 */
export interface IOfferedCell {
  /**
   * The number in its prompt, from 1.
   */
  readonly number: number;

  /**
   * Its first line of code.
   */
  readonly about: string;
}

/**
 * A script that can be chosen.
 */
export interface IOfferedScript {
  /**
   * What it is called: the name of its file.
   */
  readonly label: string;

  /**
   * What the entry point becomes.
   */
  readonly path: string;

  /**
   * What it does, in a sentence, or the folder in which it lies.
   */
  readonly about: string;
}

/**
 * How busy each part of a cluster is, or would be, 0 to 1. None: not known.
 */
export interface IPartUse {
  /**
   * CPU time of the training instances over the CPU time that they have.
   */
  readonly trainerCpu: number | null;

  /**
   * The same of the data instances; None also where there are none.
   */
  readonly dataCpu: number | null;

  /**
   * Share of the step in which the devices compute, exchange of gradients included.
   */
  readonly device: number | null;

  /**
   * Share of the step in which batches of data instances cross the network.
   */
  readonly network: number | null;
}

/**
 * An instance group as a picture shows it. None: not known, as of this machine.
 */
export interface IPicturedGroup {
  /**
   * What the set-up calls it.
   */
  readonly instanceGroupName: string;

  /**
   * SageMaker's name, or ``local``.
   */
  readonly instanceType: string;

  /**
   * Number of instances.
   */
  readonly instanceCount: number;

  /**
   * What its instances do.
   */
  readonly role: 'train' | 'data';

  /**
   * vCPUs of an instance.
   */
  readonly vcpus: number | null;

  /**
   * Memory of an instance in GiB.
   */
  readonly memoryGib: number | null;

  /**
   * Name of its accelerators; None also where it has none.
   */
  readonly accelerator: string | null;

  /**
   * Accelerators of an instance.
   */
  readonly acceleratorCount: number;

  /**
   * Bandwidth of an instance in Gbit/s.
   */
  readonly networkGbps: number | null;

  /**
   * Trainers on an instance, each of which has one of its accelerators; None: not told.
   */
  readonly trainers: number | null;
}

/**
 * A pipeline; with replicas the first of them.
 */
export interface IPipelineInfo {
  /**
   * What is to be said first.
   */
  readonly sentence: string;

  /**
   * In which order stages compute.
   */
  readonly schedule: string;

  /**
   * Parts of each batch.
   */
  readonly microbatches: number;

  /**
   * Pipelines side by side.
   */
  readonly replicas: number;

  /**
   * Steps that means are over; 0: none was timed yet.
   */
  readonly numSteps: number;

  /**
   * All stages in order, at most 64.
   */
  readonly stages: readonly IPipelineStageInfo[];

  /**
   * All ranks in order, at most 64.
   */
  readonly ranks: readonly IPipelineRankInfo[];

  /**
   * Of the step in the middle by its time; None: there is none yet.
   */
  readonly timeline: ITimelineInfo | null;

  /**
   * Other steps that can be drawn, in order.
   */
  readonly otherSteps: readonly ITimelineInfo[];

  /**
   * What the cut expected of such a step, computations alone; None: it expected nothing.
   */
  readonly predicted: ITimelineInfo | null;

  /**
   * Whether it expected shares of the time alone; they are of what was computed.
   */
  readonly isScaled: boolean;
}

/**
 * One rank of the pipeline, means of a step. None: no step was timed yet.
 */
export interface IPipelineRankInfo {
  /**
   * Its rank in the job.
   */
  readonly rank: number;

  /**
   * Its instance.
   */
  readonly host: string;

  /**
   * Share of the step in which it computes, 0 to 1.
   */
  readonly busyFraction: number | null;

  /**
   * Share of the step in which it waits for another rank to compute, or has nothing left to
   * do, 0 to 1.
   */
  readonly waitFraction: number | null;
}

/**
 * One stage of the model.
 */
export interface IPipelineStageInfo {
  /**
   * Place of its rank among those of the pipeline, from 0.
   */
  readonly rank: number;

  /**
   * Its first and its last module.
   */
  readonly modules: string;

  /**
   * Modules in it.
   */
  readonly numModules: number;

  /**
   * Share of the model's operations, 0 to 1: what the cut expected of its time.
   */
  readonly flopsFraction: number;

  /**
   * Share of the time that all stages compute, 0 to 1; None: no step was timed yet.
   */
  readonly timeFraction: number | null;

  /**
   * Mean time of the forward of a microbatch, in seconds; None: as above.
   */
  readonly forwardS: number | null;

  /**
   * Mean time of the backward of a microbatch, in seconds; None: as above.
   */
  readonly backwardS: number | null;

  /**
   * What it holds at most, as the cut predicts it.
   */
  readonly memoryBytes: number;

  /**
   * What it may hold; None: there is no limit.
   */
  readonly limitBytes: number | null;
}

/**
 * Where a set-up is among the clusters of the catalog.
 */
export interface IPlacedSetUp {
  /**
   * Place of the plan whose clusters do the same work in a step; None: there is none.
   */
  readonly plan: number | null;

  /**
   * Why it has no place, and what to do; empty: it has one.
   */
  readonly problem: string;

  /**
   * Time of one step on its own instances, in seconds; None: unknown.
   */
  readonly stepTimeS: IEstimate | null;

  /**
   * Cost of 1,000 steps in USD; None: unknown.
   */
  readonly usdPer1000Steps: IEstimate | null;
}

/**
 * Everything that a view shows of a plan. Texts are data of users.
 */
export interface IPlanInfo {
  /**
   * Version of this description.
   */
  readonly version: 1;

  /**
   * The script.
   */
  readonly entryPoint: string;

  /**
   * Steps of the job; None: not given, and so neither job time nor job cost is known.
   */
  readonly steps: number | null;

  /**
   * What the plan recommends, in one sentence.
   */
  readonly sentence: string;

  /**
   * What was asked for: budget, deadline, families; empty: nothing.
   */
  readonly limits: string;

  /**
   * Most that a cluster may cost in an hour, in USD; None: no limit.
   */
  readonly budgetUsdPerHour: number | null;

  /**
   * Most that the whole job may cost, in USD; None: no limit.
   */
  readonly budgetUsd: number | null;

  /**
   * Longest that the whole job may take, in seconds; None: no limit.
   */
  readonly deadlineS: number | null;

  /**
   * What was calibrated, where and when.
   */
  readonly basis: string;

  /**
   * The clusters, fastest first: all that no other one beats, and some of the others.
   */
  readonly points: readonly IPointInfo[];

  /**
   * Clusters within the limits, those that are not among ``points`` too.
   */
  readonly numCandidates: number;

  /**
   * Runs that the plan was compared with.
   */
  readonly measured: readonly IMeasuredInfo[];

  /**
   * What was refused and why, and what the calibration could not measure; sentences.
   */
  readonly notes: readonly string[];
}

/**
 * Where a model is cut, and what that is predicted to bring.
 */
export interface IPlannedCutInfo {
  /**
   * Number of the message that this answers; 0: the first cut, which nobody asked for.
   */
  readonly answer: number;

  /**
   * First module of each stage.
   */
  readonly starts: readonly number[];

  /**
   * In the order in which they run.
   */
  readonly stages: readonly IPlannedStageInfo[];

  /**
   * Predicted time of a step, in the unit of the model.
   */
  readonly step: number;

  /**
   * Times as fast as one device, which would have to hold the whole model.
   */
  readonly speedUp: number;

  /**
   * What bounds this cut.
   */
  readonly sentence: string;

  /**
   * Why the cut that was asked for is not this one; empty: it is.
   */
  readonly refused: string;

  /**
   * Lines of Python that cut a job's model here.
   */
  readonly code: string;

  /**
   * Share of a step that ranks are idle, 0 to 1; None: a version before told it otherwise.
   */
  readonly idleFraction: number | null;
}

/**
 * One instance group of a cluster of a plan.
 */
export interface IPlannedGroup {
  /**
   * Name of its type.
   */
  readonly instanceType: string;

  /**
   * How many instances, at least 1.
   */
  readonly instanceCount: number;

  /**
   * Whether its instances train or prepare data.
   */
  readonly role: 'train' | 'data';
}

/**
 * A model that is cut into stages: what stays the same wherever it is cut.
 */
export interface IPlannedModelInfo {
  /**
   * In the order in which they run.
   */
  readonly modules: readonly IPlannedModuleInfo[];

  /**
   * Of all times: seconds, or shares of a step of one device, of which no time is known.
   */
  readonly unit: 's' | 'fraction';

  /**
   * In which order stages compute.
   */
  readonly schedule: string;

  /**
   * Equal parts of a batch.
   */
  readonly microbatches: number;

  /**
   * Whether modules count with what they took on this machine; else by their operations.
   */
  readonly isMeasured: boolean;

  /**
   * First module of each stage of the best automatic cut; None: none fits.
   */
  readonly bestStarts: readonly number[] | null;

  /**
   * Predicted step with that cut, in the unit of the model; None: none fits.
   */
  readonly bestStep: number | null;
}

/**
 * One module that is on a stage.
 */
export interface IPlannedModuleInfo {
  /**
   * As the model names it.
   */
  readonly name: string;

  /**
   * Predicted for one microbatch, forward and backward, in the unit of the model.
   */
  readonly time: number;
}

/**
 * One stage of a planned pipeline.
 */
export interface IPlannedStageInfo {
  /**
   * Rank of the pipeline that computes it.
   */
  readonly rank: number;

  /**
   * Predicted for one microbatch, forward and backward, in the unit of the model.
   */
  readonly time: number;

  /**
   * Parameters, gradients, optimizer and activations, predicted.
   */
  readonly heldBytes: number;

  /**
   * What it may hold; None: there is no limit.
   */
  readonly limitBytes: number | null;

  /**
   * What comes from the stage before, for each microbatch.
   */
  readonly receivedBytes: number;
}

/**
 * One cluster of a plan, predicted.
 */
export interface IPointInfo {
  /**
   * Its instances: ``1 x ml.p3.2xlarge + 2 x ml.c5.9xlarge``, with a multiplication sign.
   */
  readonly label: string;

  /**
   * Whether it has instances that prepare data.
   */
  readonly isHeterogeneous: boolean;

  /**
   * ``best``, ``cheapest``, ``fastest``, ``knee``, where it is that.
   */
  readonly names: readonly string[];

  /**
   * Whether no other cluster is both faster and cheaper.
   */
  readonly isPareto: boolean;

  /**
   * ``predicted``, ``extrapolated`` or ``estimated``.
   */
  readonly evidence: 'measured' | 'emulated' | 'predicted' | 'extrapolated' | 'estimated';

  /**
   * Time of one step in seconds.
   */
  readonly stepTimeS: IEstimate;

  /**
   * Price of all instances in USD per hour; None: unknown.
   */
  readonly usdPerHour: number | null;

  /**
   * Cost of 1,000 steps in USD; None: unknown.
   */
  readonly usdPer1000Steps: IEstimate | null;

  /**
   * Time of all steps with start-up, compiling and end, in seconds; None: unknown.
   */
  readonly jobS: IEstimate | null;

  /**
   * Cost of that in USD; None: unknown.
   */
  readonly usdPerJob: IEstimate | null;

  /**
   * The stage that takes longest.
   */
  readonly bottleneck: 'cpu' | 'network' | 'serial' | 'device';

  /**
   * Whether another stage takes almost as long.
   */
  readonly isNearTie: boolean;

  /**
   * Seconds per step of each stage; they work at the same time. None: unknown.
   */
  readonly stagesS: Readonly<Record<'cpu' | 'network' | 'serial' | 'device', number | null>>;

  /**
   * Share of the step time in which each stage works, 0 to 1; None: unknown.
   */
  readonly utilization: Readonly<Record<'cpu' | 'network' | 'serial' | 'device', number | null>>;

  /**
   * Kind and date of its prices, in words.
   */
  readonly price: string;

  /**
   * Whether a price is older than 90 days.
   */
  readonly isPriceOld: boolean;

  /**
   * Why a figure is unknown, and what to keep in mind; sentences.
   */
  readonly notes: readonly string[];

  /**
   * What limits it, and what to try next; empty: not asked for.
   */
  readonly explanation: string;

  /**
   * The Python that launches it; empty: not asked for.
   */
  readonly code: string;
}

/**
 * On-demand price of one instance in us-east-1, or as the user gave it.
 */
export interface IPrice {
  /**
   * USD for one hour of one instance, at least 0.
   */
  readonly usdPerHour: number;

  /**
   * Where the price comes from.
   */
  readonly kind: 'list' | 'historical' | 'estimated' | 'user';

  /**
   * Date of the price, ``YYYY-MM-DD``; ``YYYY-MM`` where the source gives no day.
   */
  readonly date: string;
}

/**
 * One trial on one cluster, as the planner predicts it.
 */
export interface IPricedTrial {
  /**
   * Its number.
   */
  readonly trial: number;

  /**
   * Name of the cluster.
   */
  readonly cluster: string;

  /**
   * Its objective, which the cluster does not change.
   */
  readonly value: number;

  /**
   * What its training would cost there, in USD, with the planner's 80 % interval.
   */
  readonly usd: IInterval;

  /**
   * How long it would take there, in seconds, likewise.
   */
  readonly timeS: IInterval;

  /**
   * Whether none that is as good or better costs less, or less than 5 % more.
   */
  readonly isBest: boolean;
}

/**
 * The measured steps of one of several trainers, means in seconds.
 */
export interface IRankInfo {
  /**
   * Its rank.
   */
  readonly rank: number;

  /**
   * Its instance.
   */
  readonly host: string;

  /**
   * Its own step time.
   */
  readonly stepTimeS: number;

  /**
   * Of that, the wait for a batch.
   */
  readonly dataWaitS: number;

  /**
   * Of that, communication with nothing computed beside it; None: not known.
   */
  readonly exposedCommS: number | null;

  /**
   * Of that, the wait for a slower trainer; None: not known.
   */
  readonly rankWaitS: number | null;
}

/**
 * What each of several trainers did over all steps, warm-up included, in bins.
 */
export interface IRankMapInfo {
  /**
   * How many there are.
   */
  readonly trainers: number;

  /**
   * Steps that all of them have recorded.
   */
  readonly steps: number;

  /**
   * Steps of each bin; the last one may hold fewer.
   */
  readonly width: number;

  /**
   * Whether waits for other trainers were recorded; False: they count as own work.
   */
  readonly tellsWaits: boolean;

  /**
   * From this ``excess_fraction`` on a trainer is called slow.
   */
  readonly slowFrom: number;

  /**
   * The trainers by rank; where there are more than 64, those that work longest.
   */
  readonly rows: readonly IRankRowInfo[];
}

/**
 * What one of several trainers did over the steps.
 */
export interface IRankRowInfo {
  /**
   * Its rank.
   */
  readonly rank: number;

  /**
   * Its instance.
   */
  readonly host: string;

  /**
   * How much longer than the median trainer it works itself in a step, warm-up left out;
   * None: not known.
   */
  readonly excessFraction: number | null;

  /**
   * Share of the longest trainer's step, 0 to 1, in which it works itself, waits for data
   * included, and waits for no other trainer and no exchange; a mean for each bin. None: not
   * known.
   */
  readonly ownFraction: readonly (number | null)[];
}

/**
 * What the list tells of a run or a comparison. Texts are data of users.
 */
export interface IRow {
  /**
   * Name of its folder.
   */
  readonly name: string;

  /**
   * What it is.
   */
  readonly kind: string;

  /**
   * SageMaker's spelling, or ``DAMAGED``.
   */
  readonly state: string;

  /**
   * SageMaker's secondary state: ``Starting``, ``Interrupted``, …; empty: nothing to add.
   */
  readonly secondary: string;

  /**
   * Why it is in that state; empty: nothing is to be said.
   */
  readonly reason: string;

  /**
   * When it began, in seconds since the epoch; None: not yet, or not known.
   */
  readonly startedS: number | null;

  /**
   * When it ended; None: not yet, or not known.
   */
  readonly endedS: number | null;

  /**
   * What tables call its cluster; of a comparison all, the baseline first.
   */
  readonly cluster: string;

  /**
   * The script.
   */
  readonly entryPoint: string;

  /**
   * Price of its instances per hour in USD, of a comparison of the launch that runs now;
   * None: unknown, or no launch runs.
   */
  readonly usdPerHour: number | null;

  /**
   * Whether somebody is billed for it; False: it runs on the machine that launched it, and
   * prices are what it would cost; None: not known.
   */
  readonly isBilled: boolean | null;

  /**
   * Price times time, of a comparison over all its launches; None: unknown.
   */
  readonly usdSoFar: number | null;

  /**
   * Steps that were recorded, of a comparison in its rounds; None: not counted yet.
   */
  readonly steps: number | null;

  /**
   * Steps that it will take; None: until the script ends.
   */
  readonly maxSteps: number | null;

  /**
   * Mean step time behind the warm-up; None: not known, or of a study, which has many.
   */
  readonly stepTimeS: number | null;

  /**
   * What its step times are.
   */
  readonly evidence: 'measured' | 'emulated';

  /**
   * Name of the newest launch of a study, which is a row too; None: a run, or none yet.
   */
  readonly newestRun: string | null;

  /**
   * Name of the study that a run is a launch of; None: of none that is listed.
   */
  readonly study: string | null;

  /**
   * What that study launches with it, as tables call it; empty: it is no launch.
   */
  readonly launch: string;

  /**
   * Number of its round in that study, from 1; None: it is in none.
   */
  readonly round: number | null;

  /**
   * ``calibration`` or ``proof``, which launched it to measure; empty: it was neither.
   */
  readonly madeBy: string;
}

/**
 * One line of the table of set-ups, in words.
 */
export interface IRowInfo {
  /**
   * What is compared.
   */
  readonly label: string;

  /**
   * By set-up: the lines of the cell, at least one.
   */
  readonly cells: readonly (readonly string[])[];
}

/**
 * Runs beside each other; shows itself as a table, and in a notebook as charts.
 *
 * ::
 *
 *     compared = lab.compare_runs("digits-1", "digits-2", "digits-3")
 *     compared.figure("loss", along="dollars")
 *     compared.scatter("param.lr", "metric.loss.min")
 */
export interface IRunComparison {
  /**
   * Version of what is kept.
   */
  readonly version: 1;

  /**
   * What it is, among what notebooks keep.
   */
  readonly kind: 'run-comparison';

  /**
   * The runs, in the order in which they were given.
   */
  readonly runs: readonly IComparedRun[];

  /**
   * What differs, hyperparameters and arguments first; a value for each run.
   */
  readonly differences: readonly IDifference[];

  /**
   * Differences beyond the first 500.
   */
  readonly numLeftOut: number;

  /**
   * Sections that one of the runs did not write down.
   */
  readonly unknown: readonly string[];

  /**
   * Names of the metrics, those first that most runs logged; also of those without curves.
   */
  readonly metrics: readonly string[];
}

/**
 * Everything about one run that is not a row of a table. Texts are data of users.
 */
export interface IRunInfo {
  /**
   * Version of this description.
   */
  readonly version: 1;

  /**
   * Name of the job; ``lab.Run.open`` takes it.
   */
  readonly jobName: string;

  /**
   * What tables and charts call its cluster.
   */
  readonly cluster: string;

  /**
   * Name of its engine: ``local``, …; empty: not known.
   */
  readonly launcher: string;

  /**
   * Whether its instances are processes of the machine that launched it, and share what that
   * has; None: its engine is not known.
   */
  readonly runsHere: boolean | null;

  /**
   * Whether somebody is billed for it; False: its prices are what it would cost; None: not
   * known.
   */
  readonly isBilled: boolean | null;

  /**
   * The script.
   */
  readonly entryPoint: string;

  /**
   * Name of the Python environment that ran it; empty: the one that launched.
   */
  readonly pythonEnvironment: string;

  /**
   * SageMaker's spelling: ``Pending``, ``InProgress``, ``Stopping``, ``Completed``, …
   */
  readonly state: string;

  /**
   * SageMaker's secondary state: ``Starting``, ``Interrupted``, …; empty: nothing to add, or
   * an older version told it.
   */
  readonly secondary: '' | 'Starting' | 'Downloading' | 'Training' | 'Uploading' | 'Interrupted' | 'MaxRuntimeExceeded' | 'MaxWaitTimeExceeded';

  /**
   * Starts of its instances so far; 0: it has not begun, or an older version told it.
   */
  readonly attempts: number;

  /**
   * Whether its instances can be taken away from here, as a spot market does.
   */
  readonly canInterrupt: boolean;

  /**
   * Why it is in that state, or what interrupted it; empty: nothing is to be said.
   */
  readonly reason: string;

  /**
   * Whether it has ended.
   */
  readonly ended: boolean;

  /**
   * Seconds from the start of the instances to now, or to the end of the last one; None: not
   * started.
   */
  readonly elapsedS: number | null;

  /**
   * How much of that it had instances, in seconds; None: not started, or an older version
   * told it.
   */
  readonly billedS: number | null;

  /**
   * Steps that it will take; None: until the script ends.
   */
  readonly maxSteps: number | null;

  /**
   * Steps that all ranks have recorded; None: they were not counted yet.
   */
  readonly steps: number | null;

  /**
   * What its step times are: of the hardware that is named, or emulated, in cluster time.
   */
  readonly evidence: 'measured' | 'emulated';

  /**
   * How it is emulated, and what its seconds are, in words; empty: it is not emulated.
   */
  readonly emulation: string;

  /**
   * Declared time of the emulated device for a step, in seconds; None: no such device.
   */
  readonly deviceStepTimeS: number | null;

  /**
   * The instance groups.
   */
  readonly groups: readonly IGroupInfo[];

  /**
   * How it is spread over trainers; None: there is one and no network is declared, or an
   * older version told it.
   */
  readonly spread: ISpreadInfo | null;

  /**
   * Price of all instances per hour in USD; None: a price is unknown.
   */
  readonly usdPerHour: number | null;

  /**
   * Each type's price with its kind and date.
   */
  readonly priceNotes: readonly string[];

  /**
   * Price times elapsed time, start-up and end included; of an emulated run, of its steps
   * alone, whose scale the others are not on. None: a price is unknown, or not started.
   */
  readonly usdSoFar: number | null;

  /**
   * Where the billed time went, as far as it is known; None: an older version told it.
   */
  readonly bill: IBill | null;

  /**
   * The latest interruptions, in order.
   */
  readonly interruptions: readonly IInterruptionInfo[];

  /**
   * What it saves on spot instances; None: it uses none, has not begun, or an older version
   * told it.
   */
  readonly spot: ISpotInfo | null;

  /**
   * The compiler; None: it was not asked for.
   */
  readonly compiler: ICompilerInfo | null;

  /**
   * What the planner predicted of a step, in seconds; None: nobody asked it.
   */
  readonly predictedStepTimeS: IInterval | null;

  /**
   * The steps so far in a few numbers; None: no step was measured.
   */
  readonly summary: ISummaryInfo | null;

  /**
   * Several trainers over the steps; None: there is one, no step was measured, or an older
   * version told it.
   */
  readonly rankMap: IRankMapInfo | null;

  /**
   * The stages of its model, and what they did; None: it is not cut, or not yet, or an older
   * version told it.
   */
  readonly pipeline: IPipelineInfo | null;

  /**
   * What its script logs, in the order in which it was seen; empty: nothing, or an older
   * version told it.
   */
  readonly metrics: readonly IMetricInfo[];

  /**
   * Metrics that are not among these, as there are too many.
   */
  readonly metricsLeftOut: number;

  /**
   * The last events, oldest first.
   */
  readonly events: readonly IEventInfo[];

  /**
   * What could be better, by what is known now.
   */
  readonly findings: readonly IFindingInfo[];

  /**
   * Why the run's folder cannot be read further; empty: it can.
   */
  readonly problem: string;
}

/**
 * What came of a cell that was chosen.
 */
export interface ISavedCell {
  /**
   * The number in its prompt.
   */
  readonly number: number;

  /**
   * The file that it became; empty: it became none.
   */
  readonly path: string;

  /**
   * Why it became none; empty: it did.
   */
  readonly problem: string;
}

/**
 * Points of one job.
 */
export interface IScaledCurve {
  /**
   * What the job is called.
   */
  readonly name: string;

  /**
   * Devices up to which each added one brings more than ``bound``; None: not told yet, or
   * none does, so that the first point is no knee to be shown.
   */
  readonly knee: number | null;

  /**
   * The fewest devices first.
   */
  readonly points: readonly IScaledPoint[];
}

/**
 * One number of devices.
 */
export interface IScaledPoint {
  /**
   * Place of the set-up.
   */
  readonly setUp: number;

  /**
   * Trainers.
   */
  readonly devices: number;

  /**
   * Samples per second over those of the curve's fewest devices; None: these are they.
   */
  readonly speedup: IInterval | null;

  /**
   * The same over the growth of devices; None: as ``speedup``.
   */
  readonly efficiency: IInterval | null;

  /**
   * What each added device brings, over what each before brings; None: none was added.
   */
  readonly marginalEfficiency: IInterval | null;

  /**
   * Mean step time in seconds.
   */
  readonly stepTimeS: number;

  /**
   * What it would be if it scaled ideally, in seconds.
   */
  readonly idealStepTimeS: number;

  /**
   * What the difference goes to; the parts add up to it.
   */
  readonly lost: readonly ILostInfo[];

  /**
   * Cost of the steps of a million samples in USD; None: unknown.
   */
  readonly usdPerMillionSamples: IInterval | null;

  /**
   * Cost of those of an epoch in USD; None: unknown, or nobody asked.
   */
  readonly usdPerEpoch: IInterval | null;
}

/**
 * How a job grows with its devices, by the rounds that are whole.
 */
export interface IScalingInfo {
  /**
   * What stays the same.
   */
  readonly mode: 'weak' | 'strong';

  /**
   * Share of a device that an added one must bring, for the knee.
   */
  readonly bound: number;

  /**
   * One for each job.
   */
  readonly curves: readonly IScaledCurve[];
}

/**
 * A folder that is looked into.
 */
export interface IScriptFolder {
  /**
   * Where it is, from the root.
   */
  readonly path: string;

  /**
   * The folder that it lies in; None: it is the root.
   */
  readonly parent: string | null;

  /**
   * Names of the folders in it, in order; hidden ones are left out.
   */
  readonly folders: readonly string[];

  /**
   * Names of the Python files in it, in order.
   */
  readonly files: readonly string[];

  /**
   * Whether it holds more than is told.
   */
  readonly isCut: boolean;

  /**
   * Why nothing of it is told; empty: it is.
   */
  readonly problem: string;
}

/**
 * All scripts that a form offers.
 */
export interface IScripts {
  /**
   * Version of this description.
   */
  readonly version: 1;

  /**
   * Those of the newest runs, the newest first.
   */
  readonly recent: readonly IOfferedScript[];

  /**
   * Those that come with smtc_lab.
   */
  readonly examples: readonly IOfferedScript[];

  /**
   * Cells of the notebook whose kernel shows the form, the newest first.
   */
  readonly cells: readonly IOfferedCell[];

  /**
   * The folder that was asked for; None: nobody has asked yet.
   */
  readonly folder: IScriptFolder | null;

  /**
   * The cell that was chosen last; None: none yet.
   */
  readonly saved: ISavedCell | null;
}

/**
 * A hyperparameter that is searched.
 */
export interface ISearchedInfo {
  /**
   * What the script calls it.
   */
  readonly name: string;

  /**
   * Least value; of one of several values 0.
   */
  readonly low: number;

  /**
   * Greatest value; of one of several values the last one's place.
   */
  readonly high: number;

  /**
   * Whether its axis is logarithmic.
   */
  readonly isLog: boolean;

  /**
   * What it may be; empty: a number.
   */
  readonly choices: readonly string[];

  /**
   * Share of the order of the trials that it tells by itself, 0 to 1, estimated; None: too
   * few trials.
   */
  readonly importance: number | null;
}

/**
 * What a kind of study says of its own, below the answer.
 */
export interface ISection {
  /**
   * What draws it; a view that does not know it shows its words.
   */
  readonly name: string;

  /**
   * What it says; empty: the picture says it.
   */
  readonly sentence: string;

  /**
   * A table, where there is no room for a picture.
   */
  readonly rows: readonly IRowInfo[];

  /**
   * What its picture shows: a dataclass, which the one that draws it reads; None: there is
   * none.
   */
  readonly values: unknown;
}

/**
 * One set-up of a comparison: a cluster, with its compiler settings.
 */
export interface ISetUpInfo {
  /**
   * What tables and charts call it.
   */
  readonly label: string;

  /**
   * Each instance's host and the name of its group.
   */
  readonly hosts: readonly (readonly [string, string])[];

  /**
   * Price of all instances per hour in USD; None: a price is unknown.
   */
  readonly usdPerHour: number | null;

  /**
   * Whether its instances are there or emulated.
   */
  readonly evidence: 'measured' | 'emulated';

  /**
   * Name of its Python environment; empty: the one that launches.
   */
  readonly pythonEnvironment: string;

  /**
   * What the planner predicted of a step, in seconds; None: nobody asked it.
   */
  readonly predictedStepTimeS: IInterval | null;

  /**
   * Its instance groups; empty: not told, as by an older version.
   */
  readonly groups: readonly IPicturedGroup[];

  /**
   * How busy its parts were in the measured steps so far; None: there are none.
   */
  readonly use: IPartUse | null;

  /**
   * Mean step time so far in seconds; None: no step.
   */
  readonly stepTimeS: number | null;

  /**
   * The same with its interval.
   */
  readonly stepTimeIntervalS: IInterval | null;

  /**
   * What the form that started it had predicted; None: nothing.
   */
  readonly foretold: IForetold | null;
}

/**
 * What was measured of the compiler settings for the script of one set-up.
 */
export interface ISetUpLadder {
  /**
   * Why nothing can be looked up, and what to do; empty: it was.
   */
  readonly problem: string;

  /**
   * By setting, in the order in which a comparison tells of them; empty: none was
   * measured.
   */
  readonly rungs: readonly ILadderRung[];

  /**
   * Of the settings that the set-up has; None: they were not measured, or are plain.
   */
  readonly pays: IMeasuredPay | null;
}

/**
 * What a job of a form would cost on spot instances, and when it would end.
 */
export interface ISpotAnswer {
  /**
   * Version of this description.
   */
  readonly version: 1;

  /**
   * Which question it answers, as the browser called it; empty: nobody asked yet.
   */
  readonly asked: string;

  /**
   * Why nothing is predicted, and what to do; empty: it is.
   */
  readonly problem: string;

  /**
   * What it is of, in sentences.
   */
  readonly about: readonly string[];

  /**
   * The policies, beginning with on-demand instances alone.
   */
  readonly policies: readonly IAnsweredPolicy[];

  /**
   * Name of the policy that is recommended; empty: none ends in time.
   */
  readonly best: string;

  /**
   * What to take and why, and what the numbers are, in sentences.
   */
  readonly advice: readonly string[];
}

/**
 * What a job on spot instances is billed for.
 */
export interface ISpotInfo {
  /**
   * Time from the start of the instances to the end or to now, waiting included, in
   * seconds: SageMaker's TrainingTimeInSeconds.
   */
  readonly trainingS: number;

  /**
   * How much of it is billed, in seconds: SageMaker's BillableTimeInSeconds.
   */
  readonly billableS: number;

  /**
   * Managed spot training savings as SageMaker tells them: 1 - billable / training.
   */
  readonly savingsFraction: number;

  /**
   * ``platform``: both are what it bills by, with its spot price; ``run``: what its state
   * tells of time with and without instances, and of no price.
   */
  readonly toldBy: 'platform' | 'run';
}

/**
 * How a job is spread over trainers.
 */
export interface ISpreadInfo {
  /**
   * How many there are.
   */
  readonly trainers: number;

  /**
   * Replicas of the model, each with batches of its own.
   */
  readonly replicas: number;

  /**
   * Trainers that share one replica.
   */
  readonly shard: number;

  /**
   * Network between instances, declared or the catalog's; None: neither is emulated.
   */
  readonly between: IWireInfo | null;

  /**
   * Declared network between trainers of one instance; None: none is.
   */
  readonly inside: IWireInfo | null;

  /**
   * Whether the network is that of the catalog, as none is declared.
   */
  readonly isRated: boolean;
}

/**
 * A part of what 1,000 steps of a set-up cost. All of its parts add up to that.
 */
export interface IStepsCostPart {
  /**
   * Place of the set-up.
   */
  readonly setUp: number;

  /**
   * What is paid for.
   */
  readonly cause: 'compute' | 'step' | 'data_wait' | 'device_idle' | 'trainers_unknown' | 'prepare_data' | 'data_idle' | 'data_unknown';

  /**
   * In USD, above 0.
   */
  readonly usdPer1000Steps: number;

  /**
   * Whether it is paid while what it is paid for waits.
   */
  readonly isWaiting: boolean;
}

/**
 * The steps so far in a few numbers, warm-up left out.
 */
export interface ISummaryInfo {
  /**
   * Measured steps of the job.
   */
  readonly steps: number;

  /**
   * Steps that were left out at its begin.
   */
  readonly warmUpSteps: number;

  /**
   * Step time in seconds.
   */
  readonly stepTimeS: IInterval;

  /**
   * Share of the step time in which trainers waited for a batch.
   */
  readonly dataWaitFraction: number | null;

  /**
   * Share of the step time in which the device computed; None: not known.
   */
  readonly deviceUtilization: number | null;

  /**
   * CPU time used over CPU time at hand of each group, 0 to 1; None: not known.
   */
  readonly cpu: ReadonlyMap<string, number | null>;

  /**
   * Cost of 1,000 steps in USD; None: a price is unknown.
   */
  readonly usdPer1000Steps: IInterval | null;

  /**
   * Samples of all trainers in a step, a mean; None: not known, or an older version told
   * it.
   */
  readonly samplesPerStep: number | null;

  /**
   * Each of several trainers, by rank; empty: there is one, or an older version told it.
   */
  readonly ranks: readonly IRankInfo[];
}

/**
 * What ranks did in a step, or were predicted to do; a column for each field of a span.
 */
export interface ITimelineInfo {
  /**
   * Number of the step, from 0.
   */
  readonly step: number;

  /**
   * From the first to the last computation of any rank, in seconds.
   */
  readonly windowS: number;

  /**
   * Spans at its end that are left out, as there are too many.
   */
  readonly leftOut: number;

  /**
   * Place of the rank among those of the pipeline.
   */
  readonly rank: readonly number[];

  /**
   * What it did.
   */
  readonly kind: readonly ('forward' | 'backward' | 'weight' | 'wait' | 'transfer')[];

  /**
   * Stage that was computed; -1: none.
   */
  readonly stage: readonly number[];

  /**
   * Microbatch that was computed, from 0; -1: none.
   */
  readonly microbatch: readonly number[];

  /**
   * Begin, in seconds since that of the step.
   */
  readonly beginS: readonly number[];

  /**
   * How long it took, in seconds.
   */
  readonly lastedS: readonly number[];
}

/**
 * The objective of a trial while it was trained.
 */
export interface ITrialCurve {
  /**
   * Its number.
   */
  readonly trial: number;

  /**
   * How many values there were by then, and the value.
   */
  readonly points: readonly (readonly [number, number])[];
}

/**
 * A trial.
 */
export interface ITrialInfo {
  /**
   * From 0.
   */
  readonly number: number;

  /**
   * Job name of its run.
   */
  readonly run: string;

  /**
   * As of a ``Trial``.
   */
  readonly state: string;

  /**
   * Its objective; None: it has none that can be compared.
   */
  readonly objective: number | null;

  /**
   * Of each hyperparameter that is searched its value, or its place among the choices.
   */
  readonly values: readonly (number | null)[];

  /**
   * Values of the objective so far.
   */
  readonly points: number;

  /**
   * Steps that it has taken.
   */
  readonly steps: number;

  /**
   * What it has cost, in USD; None: unknown.
   */
  readonly usd: number | null;

  /**
   * Why it ended so; empty: there is nothing to say.
   */
  readonly reason: string;
}

/**
 * What a search has found so far.
 */
export interface ITuningInfo {
  /**
   * Name of the search.
   */
  readonly name: string;

  /**
   * Name of the metric.
   */
  readonly objective: string;

  /**
   * Whether less is better.
   */
  readonly isMinimized: boolean;

  /**
   * How it is searched.
   */
  readonly strategy: string;

  /**
   * Of time and money.
   */
  readonly evidence: 'measured' | 'emulated';

  /**
   * Trials in all, if nothing ends it before.
   */
  readonly numTrials: number;

  /**
   * Trials so far.
   */
  readonly begun: number;

  /**
   * Those that have ended.
   */
  readonly ended: number;

  /**
   * Most that it may cost, in USD; None: no limit.
   */
  readonly budgetUsd: number | null;

  /**
   * What all trials have cost so far, in USD; None: unknown.
   */
  readonly usd: number | null;

  /**
   * The hyperparameters.
   */
  readonly searched: readonly ISearchedInfo[];

  /**
   * The best trials, then those without an objective: some hundreds.
   */
  readonly trials: readonly ITrialInfo[];

  /**
   * Where the best objective became another; the last one is where it stands now.
   */
  readonly soFar: readonly IBestInfo[];

  /**
   * Of some trials, by number.
   */
  readonly curves: readonly ITrialCurve[];

  /**
   * Trials on clusters; empty: nobody asked the planner.
   */
  readonly pareto: readonly IPricedTrial[];

  /**
   * What is not among those, a sentence each.
   */
  readonly leftOut: readonly string[];
}

/**
 * What a set-up would be with each instance type in the place of one group.
 *
 * Both lists are in the order of the catalog.
 */
export interface ITypeOffers {
  /**
   * The group.
   */
  readonly instanceGroupName: string;

  /**
   * Mean step time in seconds; None: the model cannot say.
   */
  readonly stepTimeS: readonly (number | null)[];

  /**
   * Mean cost of 1,000 steps in USD; None: as above, or a price is unknown.
   */
  readonly usdPer1000Steps: readonly (number | null)[];
}

/**
 * What a message takes from one trainer to the next, as the emulation has it.
 */
export interface IWireInfo {
  /**
   * Bandwidth in Gbit/s, each way.
   */
  readonly gbps: number;

  /**
   * Time of an empty message in seconds.
   */
  readonly latencyS: number;
}

/**
 * Everything that crosses, by the name of its Python type.
 */
export interface IWire {
  readonly AddedGroup: IAddedGroup;
  readonly AnsweredPolicy: IAnsweredPolicy;
  readonly BeatInfo: IBeatInfo;
  readonly BestInfo: IBestInfo;
  readonly Bill: IBill;
  readonly BinsHead: IBinsHead;
  readonly Calibrating: ICalibrating;
  readonly CatalogPlan: ICatalogPlan;
  readonly CatalogPlans: ICatalogPlans;
  readonly ComparedCurve: IComparedCurve;
  readonly ComparedRun: IComparedRun;
  readonly ComparisonInfo: IComparisonInfo;
  readonly CompilerInfo: ICompilerInfo;
  readonly CompilerLadders: ICompilerLadders;
  readonly CurveInfo: ICurveInfo;
  readonly Difference: IDifference;
  readonly EnvironmentChoice: IEnvironmentChoice;
  readonly Environments: IEnvironments;
  readonly EventInfo: IEventInfo;
  readonly FindingInfo: IFindingInfo;
  readonly Forecast: IForecast;
  readonly ForecastSetUp: IForecastSetUp;
  readonly Foretold: IForetold;
  readonly FrameHead: IFrameHead;
  readonly GroupInfo: IGroupInfo;
  readonly InstanceType: IInstanceType;
  readonly InterruptionInfo: IInterruptionInfo;
  readonly Interval: IInterval;
  readonly KeptCalibration: IKeptCalibration;
  readonly LadderRung: ILadderRung;
  readonly LaunchCostPart: ILaunchCostPart;
  readonly LaunchInfo: ILaunchInfo;
  readonly LogInfo: ILogInfo;
  readonly LostInfo: ILostInfo;
  readonly Making: IMaking;
  readonly MeasuredIn: IMeasuredIn;
  readonly MeasuredInfo: IMeasuredInfo;
  readonly MeasuredPay: IMeasuredPay;
  readonly MetricInfo: IMetricInfo;
  readonly MissingCalibrations: IMissingCalibrations;
  readonly OfferedCell: IOfferedCell;
  readonly OfferedScript: IOfferedScript;
  readonly PartUse: IPartUse;
  readonly PicturedGroup: IPicturedGroup;
  readonly PipelineInfo: IPipelineInfo;
  readonly PipelineRankInfo: IPipelineRankInfo;
  readonly PipelineStageInfo: IPipelineStageInfo;
  readonly PlacedSetUp: IPlacedSetUp;
  readonly PlanInfo: IPlanInfo;
  readonly PlannedCutInfo: IPlannedCutInfo;
  readonly PlannedGroup: IPlannedGroup;
  readonly PlannedModelInfo: IPlannedModelInfo;
  readonly PlannedModuleInfo: IPlannedModuleInfo;
  readonly PlannedStageInfo: IPlannedStageInfo;
  readonly PointInfo: IPointInfo;
  readonly Price: IPrice;
  readonly PricedTrial: IPricedTrial;
  readonly RankInfo: IRankInfo;
  readonly RankMapInfo: IRankMapInfo;
  readonly RankRowInfo: IRankRowInfo;
  readonly Row: IRow;
  readonly RowInfo: IRowInfo;
  readonly RunComparison: IRunComparison;
  readonly RunInfo: IRunInfo;
  readonly SavedCell: ISavedCell;
  readonly ScaledCurve: IScaledCurve;
  readonly ScaledPoint: IScaledPoint;
  readonly ScalingInfo: IScalingInfo;
  readonly ScriptFolder: IScriptFolder;
  readonly Scripts: IScripts;
  readonly SearchedInfo: ISearchedInfo;
  readonly Section: ISection;
  readonly SetUpInfo: ISetUpInfo;
  readonly SetUpLadder: ISetUpLadder;
  readonly SpotAnswer: ISpotAnswer;
  readonly SpotInfo: ISpotInfo;
  readonly SpreadInfo: ISpreadInfo;
  readonly StepsCostPart: IStepsCostPart;
  readonly SummaryInfo: ISummaryInfo;
  readonly TimelineInfo: ITimelineInfo;
  readonly TrialCurve: ITrialCurve;
  readonly TrialInfo: ITrialInfo;
  readonly TuningInfo: ITuningInfo;
  readonly TypeOffers: ITypeOffers;
  readonly WireInfo: IWireInfo;
}

/**
 * By what it is checked.
 */
export const WIRE: Readonly<Record<keyof IWire, ISchema>> = {
  AddedGroup: {"properties":{"instance_type":{"type":"string"},"step_time_s":{"type":"number"},"usd_per_1000_steps":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  AnsweredPolicy: {"properties":{"policy":{"type":"string"},"usd":{"$ref":"Interval"},"finish_s":{"$ref":"Interval"},"deadline_probability":{"anyOf":[{"type":"number"},{"type":"null"}]},"ended_fraction":{"type":"number"},"save_every_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"use_spot_instances":{"anyOf":[{"type":"boolean"},{"type":"null"}]}},"type":"object"},
  BeatInfo: {"properties":{"number":{"type":"integer"},"elapsed_s":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  BestInfo: {"properties":{"trials":{"type":"integer"},"usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"trial":{"type":"integer"},"objective":{"type":"number"}},"type":"object"},
  Bill: {"properties":{"startup_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"steps_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"end_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"billed_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"startup_usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"steps_usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"end_usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"billed_usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"num_interruptions":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"interruptions_s":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"interruptions_usd":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"waited_s":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"evidence":{"enum":["measured","emulated"],"type":"string"}},"type":"object"},
  BinsHead: {"properties":{"first":{"type":"integer"},"width":{"type":"integer"}},"type":"object"},
  Calibrating: {"properties":{"state":{"default":"idle","enum":["idle","calibrating","stopping","done","stopped","failed"],"type":"string"},"sentence":{"default":"","type":"string"},"launch":{"default":0,"type":"integer"},"launches":{"default":0,"type":"integer"}},"type":"object"},
  CatalogPlan: {"properties":{"plan":{"$ref":"PlanInfo"},"groups":{"items":{"items":{"$ref":"PlannedGroup"},"type":"array"},"type":"array"}},"type":"object"},
  CatalogPlans: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"of":{"default":"","type":"string"},"plans":{"default":[],"items":{"$ref":"CatalogPlan"},"type":"array"},"set_ups":{"default":[],"items":{"$ref":"PlacedSetUp"},"type":"array"}},"type":"object"},
  ComparedCurve: {"properties":{"metric":{"type":"string"},"step":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"time_s":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"usd":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"value":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"low":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"high":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"num_values":{"type":"integer"},"num_finite":{"type":"integer"}},"type":"object"},
  ComparedRun: {"properties":{"name":{"type":"string"},"label":{"type":"string"},"problem":{"type":"string"},"evidence":{"anyOf":[{"enum":["measured","emulated"],"type":"string"},{"type":"null"}]},"samples_per_step":{"anyOf":[{"type":"number"},{"type":"null"}]},"numbers":{"additionalProperties":{"type":"number"},"type":"object"},"texts":{"additionalProperties":{"type":"string"},"type":"object"},"curves":{"items":{"$ref":"ComparedCurve"},"type":"array"}},"type":"object"},
  ComparisonInfo: {"properties":{"name":{"type":"string"},"entry_point":{"type":"string"},"state":{"type":"string"},"ended":{"type":"boolean"},"reason":{"type":"string"},"elapsed_s":{"type":"number"},"launches":{"type":"integer"},"rounds":{"type":"integer"},"evidence":{"enum":["measured","emulated"],"type":"string"},"scale":{"type":"string"},"sentence":{"type":"string"},"is_verdict":{"type":"boolean"},"set_ups":{"items":{"$ref":"SetUpInfo"},"type":"array"},"launched":{"items":{"$ref":"LaunchInfo"},"type":"array"},"rows":{"items":{"$ref":"RowInfo"},"type":"array"},"notes":{"items":{"type":"string"},"type":"array"},"findings":{"default":[],"items":{"$ref":"FindingInfo"},"type":"array"},"code":{"type":"string"},"is_billed":{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":null},"steps_cost":{"default":[],"items":{"$ref":"StepsCostPart"},"type":"array"},"launch_cost":{"default":[],"items":{"$ref":"LaunchCostPart"},"type":"array"},"sections":{"default":[],"items":{"$ref":"Section"},"type":"array"}},"type":"object"},
  CompilerInfo: {"properties":{"backend":{"type":"string"},"words":{"items":{"type":"string"},"type":"array"}},"type":"object"},
  CompilerLadders: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"of":{"default":"","type":"string"},"problem":{"default":"","type":"string"},"set_ups":{"default":[],"items":{"$ref":"SetUpLadder"},"type":"array"}},"type":"object"},
  CurveInfo: {"properties":{"columns":{"items":{"type":"string"},"type":"array"},"num_rows":{"type":"integer"},"width":{"type":"integer"},"mean":{"items":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"type":"array"},"low":{"items":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"type":"array"},"high":{"items":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"type":"array"},"last":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"}},"type":"object","optional":["low","high","last"]},
  Difference: {"properties":{"section":{"type":"string"},"name":{"type":"string"},"values":{"items":{"type":"string"},"type":"array"}},"type":"object"},
  EnvironmentChoice: {"properties":{"name":{"type":"string"},"torch":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"torch_xla":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"problem":{"default":"","type":"string"},"no_xla":{"default":"","type":"string"}},"type":"object"},
  Environments: {"properties":{"choices":{"items":{"$ref":"EnvironmentChoice"},"type":"array"},"no_xla":{"type":"string"},"making":{"$ref":"Making"}},"type":"object"},
  EventInfo: {"properties":{"time_s":{"type":"number"},"kind":{"type":"string"},"host":{"type":"string"},"message":{"type":"string"}},"type":"object"},
  FindingInfo: {"properties":{"severity":{"enum":["warning","note"],"type":"string"},"sentence":{"type":"string"},"fix":{"type":"string"},"action":{"default":"","type":"string"}},"type":"object"},
  Forecast: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"of":{"default":"","type":"string"},"set_ups":{"default":[],"items":{"$ref":"ForecastSetUp"},"type":"array"},"comparison_s":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"comparison_usd":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"missing":{"anyOf":[{"$ref":"MissingCalibrations"},{"type":"null"}],"default":null},"calibrating":{"$ref":"Calibrating"}},"type":"object"},
  ForecastSetUp: {"properties":{"problem":{"default":"","type":"string"},"calibration":{"anyOf":[{"$ref":"KeptCalibration"},{"type":"null"}],"default":null},"is_emulated":{"default":false,"type":"boolean"},"step_time_s":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null},"usd_per_hour":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"usd_per_1000_steps":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null},"usd_per_job":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null},"job_s":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null},"bottleneck":{"anyOf":[{"enum":["cpu","network","serial","device"],"type":"string"},{"type":"null"}],"default":null},"is_near_tie":{"default":false,"type":"boolean"},"limiting_workers":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},"advice":{"default":"","type":"string"},"evidence":{"anyOf":[{"enum":["predicted","extrapolated","estimated"],"type":"string"},{"type":"null"}],"default":null},"cautions":{"default":[],"items":{"type":"string"},"type":"array"},"utilization":{"$ref":"PartUse"},"data_share":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"offers":{"default":[],"items":{"$ref":"TypeOffers"},"type":"array"},"added":{"anyOf":[{"$ref":"AddedGroup"},{"type":"null"}],"default":null}},"type":"object"},
  Foretold: {"properties":{"step_time_s":{"properties":{"mean":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},"usd_per_1000_steps":{"anyOf":[{"properties":{"mean":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}]},"use":{"$ref":"PartUse"}},"type":"object"},
  FrameHead: {"properties":{"type":{"enum":["rows","reset","part"],"type":"string"},"table":{"type":"string"},"columns":{"items":{"type":"string"},"type":"array"},"first":{"type":"integer"},"bins":{"anyOf":[{"$ref":"BinsHead"},{"type":"null"}]}},"type":"object","optional":["bins"]},
  GroupInfo: {"properties":{"name":{"type":"string"},"instance_type":{"type":"string"},"instance_count":{"type":"integer"},"role":{"type":"string"},"hosts":{"items":{"type":"string"},"type":"array"},"cpu_quota_cores":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  InstanceType: {"properties":{"name":{"type":"string"},"vcpus":{"type":"integer"},"memory_gib":{"type":"number"},"accelerator":{"anyOf":[{"type":"string"},{"type":"null"}]},"accelerator_count":{"type":"integer"},"accelerator_memory_gib":{"anyOf":[{"type":"number"},{"type":"null"}]},"network_gbps":{"anyOf":[{"type":"number"},{"type":"null"}]},"price":{"anyOf":[{"$ref":"Price"},{"type":"null"}]}},"type":"object"},
  InterruptionInfo: {"properties":{"from_s":{"type":"number"},"gone_s":{"type":"number"},"back_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"until_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"step":{"type":"integer"},"waited_s":{"type":"number"},"lost_s":{"type":"number"},"lost_usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"reason":{"type":"string"}},"type":"object"},
  Interval: {"properties":{"mean":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.95,"type":"number"},"evidence":{"default":"unknown","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"},"spread":{"default":"unknown","enum":["launches","steps","none","unknown"],"type":"string"},"candidates":{"default":1,"type":"integer"},"looks":{"default":1,"type":"integer"}},"type":"object"},
  KeptCalibration: {"properties":{"created":{"type":"string"},"machine":{"type":"string"},"emulated_device_s":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  LadderRung: {"properties":{"setting":{"type":"string"},"before":{"type":"string"},"after":{"type":"string"},"saved_fraction":{"$ref":"Interval"},"is_seen":{"type":"boolean"},"added_s":{"$ref":"Interval"},"measured":{"$ref":"MeasuredIn"}},"type":"object"},
  LaunchCostPart: {"properties":{"set_up":{"type":"integer"},"cause":{"enum":["startup","first_steps","steps","all_steps","interruptions","end"],"type":"string"},"usd":{"type":"number"},"is_waiting":{"type":"boolean"}},"type":"object"},
  LaunchInfo: {"properties":{"job_name":{"type":"string"},"label":{"type":"string"},"set_up":{"anyOf":[{"type":"integer"},{"type":"null"}]},"round":{"anyOf":[{"type":"integer"},{"type":"null"}]},"state":{"type":"string"},"steps":{"type":"integer"},"max_steps":{"anyOf":[{"type":"integer"},{"type":"null"}]},"warm_up_steps":{"type":"integer"}},"type":"object"},
  LogInfo: {"properties":{"lines":{"items":{"prefixItems":[{"type":"string"},{"type":"string"}],"type":"array"},"type":"array"},"unfinished":{"items":{"prefixItems":[{"type":"string"},{"type":"string"}],"type":"array"},"type":"array"},"leftOut":{"type":"integer"},"silent":{"items":{"type":"string"},"type":"array"}},"type":"object"},
  LostInfo: {"properties":{"cause":{"enum":["data_wait","stragglers","communication","compute","other"],"type":"string"},"s_per_step":{"$ref":"Interval"}},"type":"object"},
  Making: {"properties":{"state":{"default":"idle","enum":["idle","making","done","failed"],"type":"string"},"sentence":{"default":"","type":"string"}},"type":"object"},
  MeasuredIn: {"properties":{"name":{"type":"string"},"created":{"type":"string"},"instances":{"type":"string"},"is_script_changed":{"type":"boolean"}},"type":"object"},
  MeasuredInfo: {"properties":{"label":{"type":"string"},"job_name":{"type":"string"},"is_heterogeneous":{"type":"boolean"},"has_ended":{"type":"boolean"},"evidence":{"enum":["measured","emulated","predicted","extrapolated","estimated"],"type":"string"},"step_time_s":{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.95,"type":"number"},"evidence":{"default":"unknown","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},"predicted_s":{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},"error_fraction":{"type":"number"},"usd_per_1000_steps":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.95,"type":"number"},"evidence":{"default":"unknown","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}]}},"type":"object"},
  MeasuredPay: {"properties":{"baseline":{"type":"string"},"steps":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]},"after_s":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]},"is_slower":{"type":"boolean"},"measured":{"$ref":"MeasuredIn"}},"type":"object"},
  MetricInfo: {"properties":{"name":{"type":"string"},"table":{"type":"string"},"last":{"anyOf":[{"type":"number"},{"type":"null"}]},"least":{"anyOf":[{"type":"number"},{"type":"null"}]},"greatest":{"anyOf":[{"type":"number"},{"type":"null"}]},"points":{"type":"integer"}},"type":"object"},
  MissingCalibrations: {"properties":{"workloads":{"type":"integer"},"launches":{"type":"integer"},"about_s":{"type":"number"},"sentence":{"type":"string"}},"type":"object"},
  OfferedCell: {"properties":{"number":{"type":"integer"},"about":{"type":"string"}},"type":"object"},
  OfferedScript: {"properties":{"label":{"type":"string"},"path":{"type":"string"},"about":{"type":"string"}},"type":"object"},
  PartUse: {"properties":{"trainer_cpu":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"data_cpu":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"device":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"network":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null}},"type":"object"},
  PicturedGroup: {"properties":{"instance_group_name":{"type":"string"},"instance_type":{"type":"string"},"instance_count":{"type":"integer"},"role":{"enum":["train","data"],"type":"string"},"vcpus":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},"memory_gib":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"accelerator":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"accelerator_count":{"default":0,"type":"integer"},"network_gbps":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"trainers":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}},"type":"object"},
  PipelineInfo: {"properties":{"sentence":{"type":"string"},"schedule":{"type":"string"},"microbatches":{"type":"integer"},"replicas":{"type":"integer"},"num_steps":{"type":"integer"},"stages":{"items":{"$ref":"PipelineStageInfo"},"type":"array"},"ranks":{"items":{"$ref":"PipelineRankInfo"},"type":"array"},"timeline":{"anyOf":[{"$ref":"TimelineInfo"},{"type":"null"}]},"other_steps":{"default":[],"items":{"$ref":"TimelineInfo"},"type":"array"},"predicted":{"anyOf":[{"$ref":"TimelineInfo"},{"type":"null"}],"default":null},"is_scaled":{"default":false,"type":"boolean"}},"type":"object"},
  PipelineRankInfo: {"properties":{"rank":{"type":"integer"},"host":{"type":"string"},"busy_fraction":{"anyOf":[{"type":"number"},{"type":"null"}]},"wait_fraction":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  PipelineStageInfo: {"properties":{"rank":{"type":"integer"},"modules":{"type":"string"},"num_modules":{"type":"integer"},"flops_fraction":{"type":"number"},"time_fraction":{"anyOf":[{"type":"number"},{"type":"null"}]},"forward_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"backward_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"memory_bytes":{"type":"number"},"limit_bytes":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  PlacedSetUp: {"properties":{"plan":{"anyOf":[{"type":"integer"},{"type":"null"}]},"problem":{"default":"","type":"string"},"step_time_s":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null},"usd_per_1000_steps":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null}},"type":"object"},
  PlanInfo: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"entry_point":{"type":"string"},"steps":{"anyOf":[{"type":"integer"},{"type":"null"}]},"sentence":{"type":"string"},"limits":{"type":"string"},"budget_usd_per_hour":{"anyOf":[{"type":"number"},{"type":"null"}]},"budget_usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"deadline_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"basis":{"type":"string"},"points":{"items":{"$ref":"PointInfo"},"type":"array"},"num_candidates":{"type":"integer"},"measured":{"items":{"$ref":"MeasuredInfo"},"type":"array"},"notes":{"items":{"type":"string"},"type":"array"}},"type":"object"},
  PlannedCutInfo: {"properties":{"answer":{"type":"integer"},"starts":{"items":{"type":"integer"},"type":"array"},"stages":{"items":{"$ref":"PlannedStageInfo"},"type":"array"},"step":{"type":"number"},"speed_up":{"type":"number"},"sentence":{"type":"string"},"refused":{"type":"string"},"code":{"type":"string"},"idle_fraction":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null}},"type":"object"},
  PlannedGroup: {"properties":{"instance_type":{"type":"string"},"instance_count":{"type":"integer"},"role":{"enum":["train","data"],"type":"string"}},"type":"object"},
  PlannedModelInfo: {"properties":{"modules":{"items":{"$ref":"PlannedModuleInfo"},"type":"array"},"unit":{"enum":["s","fraction"],"type":"string"},"schedule":{"type":"string"},"microbatches":{"type":"integer"},"is_measured":{"type":"boolean"},"best_starts":{"anyOf":[{"items":{"type":"integer"},"type":"array"},{"type":"null"}]},"best_step":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  PlannedModuleInfo: {"properties":{"name":{"type":"string"},"time":{"type":"number"}},"type":"object"},
  PlannedStageInfo: {"properties":{"rank":{"type":"integer"},"time":{"type":"number"},"held_bytes":{"type":"number"},"limit_bytes":{"anyOf":[{"type":"number"},{"type":"null"}]},"received_bytes":{"type":"integer"}},"type":"object"},
  PointInfo: {"properties":{"label":{"type":"string"},"is_heterogeneous":{"type":"boolean"},"names":{"items":{"type":"string"},"type":"array"},"is_pareto":{"type":"boolean"},"evidence":{"enum":["measured","emulated","predicted","extrapolated","estimated"],"type":"string"},"step_time_s":{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},"usd_per_hour":{"anyOf":[{"type":"number"},{"type":"null"}]},"usd_per_1000_steps":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}]},"job_s":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}]},"usd_per_job":{"anyOf":[{"properties":{"value":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}]},"bottleneck":{"enum":["cpu","network","serial","device"],"type":"string"},"is_near_tie":{"type":"boolean"},"stages_s":{"type":"object","properties":{"cpu":{"anyOf":[{"type":"number"},{"type":"null"}]},"network":{"anyOf":[{"type":"number"},{"type":"null"}]},"serial":{"anyOf":[{"type":"number"},{"type":"null"}]},"device":{"anyOf":[{"type":"number"},{"type":"null"}]}}},"utilization":{"type":"object","properties":{"cpu":{"anyOf":[{"type":"number"},{"type":"null"}]},"network":{"anyOf":[{"type":"number"},{"type":"null"}]},"serial":{"anyOf":[{"type":"number"},{"type":"null"}]},"device":{"anyOf":[{"type":"number"},{"type":"null"}]}}},"price":{"type":"string"},"is_price_old":{"type":"boolean"},"notes":{"items":{"type":"string"},"type":"array"},"explanation":{"type":"string"},"code":{"type":"string"}},"type":"object"},
  Price: {"properties":{"usd_per_hour":{"type":"number"},"kind":{"enum":["list","historical","estimated","user"],"type":"string"},"date":{"type":"string"}},"type":"object"},
  PricedTrial: {"properties":{"trial":{"type":"integer"},"cluster":{"type":"string"},"value":{"type":"number"},"usd":{"$ref":"Interval"},"time_s":{"$ref":"Interval"},"is_best":{"type":"boolean"}},"type":"object"},
  RankInfo: {"properties":{"rank":{"type":"integer"},"host":{"type":"string"},"step_time_s":{"type":"number"},"data_wait_s":{"type":"number"},"exposed_comm_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"rank_wait_s":{"anyOf":[{"type":"number"},{"type":"null"}]}},"type":"object"},
  RankMapInfo: {"properties":{"trainers":{"type":"integer"},"steps":{"type":"integer"},"width":{"type":"integer"},"tells_waits":{"type":"boolean"},"slow_from":{"type":"number"},"rows":{"items":{"$ref":"RankRowInfo"},"type":"array"}},"type":"object"},
  RankRowInfo: {"properties":{"rank":{"type":"integer"},"host":{"type":"string"},"excess_fraction":{"anyOf":[{"type":"number"},{"type":"null"}]},"own_fraction":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"}},"type":"object"},
  Row: {"properties":{"name":{"type":"string"},"kind":{"type":"string"},"state":{"type":"string"},"secondary":{"type":"string"},"reason":{"type":"string"},"started_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"ended_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"cluster":{"type":"string"},"entry_point":{"type":"string"},"usd_per_hour":{"anyOf":[{"type":"number"},{"type":"null"}]},"is_billed":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"usd_so_far":{"anyOf":[{"type":"number"},{"type":"null"}]},"steps":{"anyOf":[{"type":"integer"},{"type":"null"}]},"max_steps":{"anyOf":[{"type":"integer"},{"type":"null"}]},"step_time_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"evidence":{"enum":["measured","emulated"],"type":"string"},"newest_run":{"anyOf":[{"type":"string"},{"type":"null"}]},"study":{"anyOf":[{"type":"string"},{"type":"null"}]},"launch":{"type":"string"},"round":{"anyOf":[{"type":"integer"},{"type":"null"}]},"made_by":{"type":"string"}},"type":"object"},
  RowInfo: {"properties":{"label":{"type":"string"},"cells":{"items":{"items":{"type":"string"},"type":"array"},"type":"array"}},"type":"object"},
  RunComparison: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"kind":{"const":"run-comparison","default":"run-comparison","type":"string"},"runs":{"items":{"$ref":"ComparedRun"},"type":"array"},"differences":{"items":{"$ref":"Difference"},"type":"array"},"num_left_out":{"type":"integer"},"unknown":{"items":{"type":"string"},"type":"array"},"metrics":{"items":{"type":"string"},"type":"array"}},"type":"object"},
  RunInfo: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"job_name":{"type":"string"},"cluster":{"type":"string"},"launcher":{"type":"string"},"runs_here":{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":null},"is_billed":{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":null},"entry_point":{"type":"string"},"python_environment":{"default":"","type":"string"},"state":{"type":"string"},"secondary":{"default":"","enum":["","Starting","Downloading","Training","Uploading","Interrupted","MaxRuntimeExceeded","MaxWaitTimeExceeded"],"type":"string"},"attempts":{"default":0,"type":"integer"},"can_interrupt":{"default":false,"type":"boolean"},"reason":{"type":"string"},"ended":{"type":"boolean"},"elapsed_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"billed_s":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"max_steps":{"anyOf":[{"type":"integer"},{"type":"null"}]},"steps":{"anyOf":[{"type":"integer"},{"type":"null"}]},"evidence":{"enum":["measured","emulated"],"type":"string"},"emulation":{"type":"string"},"device_step_time_s":{"anyOf":[{"type":"number"},{"type":"null"}]},"groups":{"items":{"$ref":"GroupInfo"},"type":"array"},"spread":{"anyOf":[{"$ref":"SpreadInfo"},{"type":"null"}],"default":null},"usd_per_hour":{"anyOf":[{"type":"number"},{"type":"null"}]},"price_notes":{"items":{"type":"string"},"type":"array"},"usd_so_far":{"anyOf":[{"type":"number"},{"type":"null"}]},"bill":{"anyOf":[{"$ref":"Bill"},{"type":"null"}],"default":null},"interruptions":{"default":[],"items":{"$ref":"InterruptionInfo"},"type":"array"},"spot":{"anyOf":[{"$ref":"SpotInfo"},{"type":"null"}],"default":null},"compiler":{"anyOf":[{"$ref":"CompilerInfo"},{"type":"null"}]},"predicted_step_time_s":{"anyOf":[{"properties":{"mean":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null},"summary":{"anyOf":[{"$ref":"SummaryInfo"},{"type":"null"}]},"rank_map":{"anyOf":[{"$ref":"RankMapInfo"},{"type":"null"}],"default":null},"pipeline":{"anyOf":[{"$ref":"PipelineInfo"},{"type":"null"}],"default":null},"metrics":{"default":[],"items":{"$ref":"MetricInfo"},"type":"array"},"metrics_left_out":{"default":0,"type":"integer"},"events":{"items":{"$ref":"EventInfo"},"type":"array"},"findings":{"items":{"$ref":"FindingInfo"},"type":"array"},"problem":{"type":"string"}},"type":"object"},
  SavedCell: {"properties":{"number":{"type":"integer"},"path":{"type":"string"},"problem":{"type":"string"}},"type":"object"},
  ScaledCurve: {"properties":{"name":{"type":"string"},"knee":{"anyOf":[{"type":"integer"},{"type":"null"}]},"points":{"items":{"$ref":"ScaledPoint"},"type":"array"}},"type":"object"},
  ScaledPoint: {"properties":{"set_up":{"type":"integer"},"devices":{"type":"integer"},"speedup":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]},"efficiency":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]},"marginal_efficiency":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]},"step_time_s":{"type":"number"},"ideal_step_time_s":{"type":"number"},"lost":{"items":{"$ref":"LostInfo"},"type":"array"},"usd_per_million_samples":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]},"usd_per_epoch":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]}},"type":"object"},
  ScalingInfo: {"properties":{"mode":{"enum":["weak","strong"],"type":"string"},"bound":{"type":"number"},"curves":{"items":{"$ref":"ScaledCurve"},"type":"array"}},"type":"object"},
  ScriptFolder: {"properties":{"path":{"type":"string"},"parent":{"anyOf":[{"type":"string"},{"type":"null"}]},"folders":{"items":{"type":"string"},"type":"array"},"files":{"items":{"type":"string"},"type":"array"},"is_cut":{"type":"boolean"},"problem":{"type":"string"}},"type":"object"},
  Scripts: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"recent":{"default":[],"items":{"$ref":"OfferedScript"},"type":"array"},"examples":{"default":[],"items":{"$ref":"OfferedScript"},"type":"array"},"cells":{"default":[],"items":{"$ref":"OfferedCell"},"type":"array"},"folder":{"anyOf":[{"$ref":"ScriptFolder"},{"type":"null"}],"default":null},"saved":{"anyOf":[{"$ref":"SavedCell"},{"type":"null"}],"default":null}},"type":"object"},
  SearchedInfo: {"properties":{"name":{"type":"string"},"low":{"type":"number"},"high":{"type":"number"},"is_log":{"type":"boolean"},"choices":{"default":[],"items":{"type":"string"},"type":"array"},"importance":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null}},"type":"object"},
  Section: {"properties":{"name":{"type":"string"},"sentence":{"default":"","type":"string"},"rows":{"default":[],"items":{"$ref":"RowInfo"},"type":"array"},"values":{"default":null}},"type":"object"},
  SetUpInfo: {"properties":{"label":{"type":"string"},"hosts":{"items":{"prefixItems":[{"type":"string"},{"type":"string"}],"type":"array"},"type":"array"},"usd_per_hour":{"anyOf":[{"type":"number"},{"type":"null"}]},"evidence":{"enum":["measured","emulated"],"type":"string"},"python_environment":{"default":"","type":"string"},"predicted_step_time_s":{"anyOf":[{"properties":{"mean":{"type":"number"},"low":{"type":"number"},"high":{"type":"number"},"level":{"default":0.8,"type":"number"},"evidence":{"default":"predicted","enum":["measured","emulated","predicted","estimated","unknown"],"type":"string"}},"type":"object"},{"type":"null"}],"default":null},"groups":{"default":[],"items":{"$ref":"PicturedGroup"},"type":"array"},"use":{"anyOf":[{"$ref":"PartUse"},{"type":"null"}],"default":null},"step_time_s":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"step_time_interval_s":{"anyOf":[{"$ref":"Interval"},{"type":"null"}],"default":null},"foretold":{"anyOf":[{"$ref":"Foretold"},{"type":"null"}],"default":null}},"type":"object"},
  SetUpLadder: {"properties":{"problem":{"default":"","type":"string"},"rungs":{"default":[],"items":{"$ref":"LadderRung"},"type":"array"},"pays":{"anyOf":[{"$ref":"MeasuredPay"},{"type":"null"}],"default":null}},"type":"object"},
  SpotAnswer: {"properties":{"version":{"const":1,"default":1,"type":"integer"},"asked":{"default":"","type":"string"},"problem":{"default":"","type":"string"},"about":{"default":[],"items":{"type":"string"},"type":"array"},"policies":{"default":[],"items":{"$ref":"AnsweredPolicy"},"type":"array"},"best":{"default":"","type":"string"},"advice":{"default":[],"items":{"type":"string"},"type":"array"}},"type":"object"},
  SpotInfo: {"properties":{"training_s":{"type":"number"},"billable_s":{"type":"number"},"savings_fraction":{"type":"number"},"told_by":{"enum":["platform","run"],"type":"string"}},"type":"object"},
  SpreadInfo: {"properties":{"trainers":{"type":"integer"},"replicas":{"type":"integer"},"shard":{"type":"integer"},"between":{"anyOf":[{"$ref":"WireInfo"},{"type":"null"}]},"inside":{"anyOf":[{"$ref":"WireInfo"},{"type":"null"}]},"is_rated":{"type":"boolean"}},"type":"object"},
  StepsCostPart: {"properties":{"set_up":{"type":"integer"},"cause":{"enum":["compute","step","data_wait","device_idle","trainers_unknown","prepare_data","data_idle","data_unknown"],"type":"string"},"usd_per_1000_steps":{"type":"number"},"is_waiting":{"type":"boolean"}},"type":"object"},
  SummaryInfo: {"properties":{"steps":{"type":"integer"},"warm_up_steps":{"type":"integer"},"step_time_s":{"$ref":"Interval"},"data_wait_fraction":{"anyOf":[{"type":"number"},{"type":"null"}]},"device_utilization":{"anyOf":[{"type":"number"},{"type":"null"}]},"cpu":{"additionalProperties":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"object"},"usd_per_1000_steps":{"anyOf":[{"$ref":"Interval"},{"type":"null"}]},"samples_per_step":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},"ranks":{"default":[],"items":{"$ref":"RankInfo"},"type":"array"}},"type":"object"},
  TimelineInfo: {"properties":{"step":{"type":"integer"},"window_s":{"type":"number"},"left_out":{"type":"integer"},"rank":{"items":{"type":"integer"},"type":"array"},"kind":{"items":{"enum":["forward","backward","weight","wait","transfer"],"type":"string"},"type":"array"},"stage":{"items":{"type":"integer"},"type":"array"},"microbatch":{"items":{"type":"integer"},"type":"array"},"begin_s":{"items":{"type":"number"},"type":"array"},"lasted_s":{"items":{"type":"number"},"type":"array"}},"type":"object"},
  TrialCurve: {"properties":{"trial":{"type":"integer"},"points":{"items":{"prefixItems":[{"type":"number"},{"type":"number"}],"type":"array"},"type":"array"}},"type":"object"},
  TrialInfo: {"properties":{"number":{"type":"integer"},"run":{"type":"string"},"state":{"type":"string"},"objective":{"anyOf":[{"type":"number"},{"type":"null"}]},"values":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"points":{"type":"integer"},"steps":{"type":"integer"},"usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"reason":{"type":"string"}},"type":"object"},
  TuningInfo: {"properties":{"name":{"type":"string"},"objective":{"type":"string"},"is_minimized":{"type":"boolean"},"strategy":{"type":"string"},"evidence":{"enum":["measured","emulated"],"type":"string"},"num_trials":{"type":"integer"},"begun":{"type":"integer"},"ended":{"type":"integer"},"budget_usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"usd":{"anyOf":[{"type":"number"},{"type":"null"}]},"searched":{"items":{"$ref":"SearchedInfo"},"type":"array"},"trials":{"items":{"$ref":"TrialInfo"},"type":"array"},"so_far":{"items":{"$ref":"BestInfo"},"type":"array"},"curves":{"items":{"$ref":"TrialCurve"},"type":"array"},"pareto":{"default":[],"items":{"$ref":"PricedTrial"},"type":"array"},"left_out":{"default":[],"items":{"type":"string"},"type":"array"}},"type":"object"},
  TypeOffers: {"properties":{"instance_group_name":{"type":"string"},"step_time_s":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"},"usd_per_1000_steps":{"items":{"anyOf":[{"type":"number"},{"type":"null"}]},"type":"array"}},"type":"object"},
  WireInfo: {"properties":{"gbps":{"type":"number"},"latency_s":{"type":"number"}},"type":"object"}
};
