// Computes how much of each limit is used, without a scan of the table of jobs.
import type { Database } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import type { Value } from "../../domain/value.ts";
import { numberText } from "../../domain/words.ts";
import { readLimits, type StoredLimit } from "../../queue/limits/limits.ts";
import type { NameTally } from "../stats/name-tallies.ts";
import { nextStartMs } from "./next-start.ts";
import {
  type BackingOff,
  type BusyQueue,
  isFor,
  type PermitUse,
  type RateTimes,
  readBackingOff,
  readBusyQueues,
  readGranted,
  readQueueCounts,
  readRates,
  readRunning,
  runningOf,
} from "./read-use.ts";
import { readWaitingNames, type WaitingCounts, type WaitingNames, waitingOf } from "./waiting.ts";

/** `full`: a limit of tasks is used up, or at least one queue of a limit of queues is full. */
export type LimitState = "free" | "full" | "backing_off";

/** A queue with running or waiting jobs, under a limit of queues. */
export interface QueueUse {
  readonly name: string;
  /** The number of the queue's slots that are in use. */
  readonly running: number;
  readonly slots: number;
  readonly waiting: Value;
  readonly isFull: boolean;
  /** The milliseconds until the limit's rate allows the next start in this queue; 0: now. */
  readonly nextStartMs: number;
}

export interface LimitUse {
  readonly limit: StoredLimit;
  /** The number of running jobs, as far as workers have reported them; for a limit of queues, of slots in use. */
  readonly running: number;
  /** The number of due jobs under the limit that are not running. */
  readonly waiting: Value;
  /** The number of matching queues; null for a limit of tasks, or if too many queues or limits exist for a count. */
  readonly queues: number | null;
  /** At most 200 queues with running or waiting jobs: full queues first, then those with the most waiting jobs. */
  readonly busy: readonly QueueUse[];
  /** The number of full queues; may be too low if more than 200 queues without slots in use have waiting jobs. */
  readonly fullQueues: number;
  /** The milliseconds until the rate of a limit of tasks allows the next start; 0: now, or a limit of queues. */
  readonly nextStartMs: number;
  readonly state: LimitState;
  /** A text on what is used up, such as `all 40 permits given out`; null if nothing is used up. */
  readonly fullBecause: string | null;
  readonly backingOff: BackingOff | null;
}

const MAX_BUSY = 200;

/** Returns the use of each limit, sorted by name; an empty list if the schema has no tables of limits. */
export async function readLimitUses(db: Database, counted: WaitingCounts): Promise<LimitUse[]> {
  if (!(await hasLimits(db))) return [];
  const limits = await readLimits(db);
  if (limits.length === 0) return [];
  const facts: Facts = {
    counted,
    running: await readRunning(db, limits),
    granted: await readGranted(db, limits),
    busy: await readBusyQueues(db, limits),
    queues: await readQueueCounts(db, limits),
    rates: await readRates(db),
    backingOff: await readBackingOff(db),
    waitingTasks: await readWaitingNames(db, counted, "task"),
    waitingQueues: await readWaitingNames(db, counted, "queue"),
  };
  const uses = limits.map((limit) =>
    limit.definition.scope === "task" ? useOfTasks(limit, facts) : useOfQueues(limit, facts),
  );
  return uses.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

interface Facts {
  readonly counted: WaitingCounts;
  readonly running: ReadonlyMap<string, number>;
  readonly granted: ReadonlyMap<number, PermitUse>;
  readonly busy: readonly BusyQueue[];
  readonly queues: ReadonlyMap<number, number>;
  readonly rates: RateTimes;
  readonly backingOff: ReadonlyMap<string, BackingOff>;
  readonly waitingTasks: WaitingNames;
  readonly waitingQueues: WaitingNames;
}

const nameOf = ({ limit }: LimitUse) => limit.definition.name;

const RATE_USED = "rate used up";
const inUse = (running: number, most: number) =>
  `${numberText(running)} of ${numberText(most)} running`;

function useOfTasks(limit: StoredLimit, facts: Facts): LimitUse {
  const { definition } = limit;
  const running = runningOf(limit, facts.running, facts.granted);
  const tallies = matchingNames(limit, facts.waitingTasks).map(([, tally]) => tally);
  const waiting = waitingOf(facts.counted, tallies);
  const nextMs = nextStartMs(definition, facts.rates.get(limit.id)?.get("") ?? null);
  const { concurrency } = definition;
  const isGranted =
    (facts.granted.get(limit.id)?.permits ?? 0) >= (concurrency ?? Infinity) &&
    waiting.value > (concurrency ?? 0);
  const fullBecause =
    concurrency !== null && running >= concurrency
      ? inUse(running, concurrency)
      : nextMs > 0 && waiting.value > 0
        ? RATE_USED
        : isGranted
          ? `all ${numberText(concurrency ?? 0)} permits given out`
          : null;
  return {
    ...{ limit, running, waiting, queues: null, busy: [], fullQueues: 0, nextStartMs: nextMs },
    ...stateOf(limit, facts, fullBecause),
  };
}

function useOfQueues(limit: StoredLimit, facts: Facts): LimitUse {
  const { definition, id } = limit;
  const held = facts.busy.filter(({ name }) => isFor(definition, name));
  const waiting = matchingNames(limit, facts.waitingQueues);
  // If the limit has only a rate, a queue with a running job is not full. Each queue runs one job at a time, also
  // without a limit.
  const isInUse = ({ running, slots }: BusyQueue) =>
    definition.concurrency !== null && running >= slots;
  const heldNames = new Set(held.map(({ name }) => name));
  const others = waiting
    .filter(([name]) => !heldNames.has(name))
    .slice(0, MAX_BUSY)
    .map(([name]) => ({ name, running: 0, slots: definition.concurrency ?? 1 }));
  const all = [...held, ...others].map((queue): QueueUse => {
    const tally = facts.waitingQueues.get(queue.name);
    const jobs = waitingOf(facts.counted, tally === undefined ? [] : [tally]);
    const nextMs = nextStartMs(definition, facts.rates.get(id)?.get(queue.name) ?? null);
    const isFull = isInUse(queue) || (nextMs > 0 && jobs.value > 0);
    return { ...queue, waiting: jobs, isFull, nextStartMs: nextMs };
  });
  const busy = all.toSorted(byUrgency);
  const running = held.reduce((sum, queue) => sum + queue.running, 0);
  const fullQueues = busy.filter(({ isFull }) => isFull).length;
  const [first] = busy;
  const fullBecause =
    first === undefined || !first.isFull
      ? null
      : isInUse(first)
        ? inUse(first.running, first.slots)
        : RATE_USED;
  return {
    ...{ limit, running, queues: facts.queues.get(id) ?? null, nextStartMs: 0 },
    waiting: waitingOf(
      facts.counted,
      waiting.map(([, tally]) => tally),
    ),
    busy: busy.slice(0, MAX_BUSY),
    fullQueues,
    ...stateOf(limit, facts, fullBecause),
  };
}

const byUrgency = (a: QueueUse, b: QueueUse): number =>
  Number(b.isFull) - Number(a.isFull) || b.waiting.value - a.waiting.value || b.running - a.running;

/** A limit for a single task or queue also backs off while that task or queue backs off. */
function stateOf(
  { definition: { scope, match }, backOff }: StoredLimit,
  { backingOff }: Facts,
  fullBecause: string | null,
): Pick<LimitUse, "state" | "fullBecause" | "backingOff"> {
  const backs = backOff ?? backingOff.get(`${scope} ${match}`) ?? null;
  const state = backs !== null ? "backing_off" : fullBecause !== null ? "full" : "free";
  return { state, fullBecause, backingOff: backs };
}

function matchingNames(
  { definition }: StoredLimit,
  named: ReadonlyMap<string, NameTally>,
): [string, NameTally][] {
  if (definition.match.includes("*")) {
    return [...named].filter(([name]) => isFor(definition, name));
  }
  const tally = named.get(definition.match);
  return tally === undefined ? [] : [[definition.match, tally]];
}
