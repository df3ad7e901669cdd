// Finds the limits that keep jobs from starting now. For incidents, a rate that is nearly used up counts, too. Without
// this, the incident would come and go.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import type { LimitDefinition } from "../../domain/limits/limit.ts";
import { periodWords } from "../../domain/limits/limit-text.ts";
import { momentText, numberText, shortName } from "../../domain/words.ts";
import { readLimits, type StoredLimit } from "../../queue/limits/limits.ts";
import { isNearlyUsedUp, nextStartMs } from "./next-start.ts";
import {
  type BusyQueue,
  isFor,
  type PermitUse,
  type RateTimes,
  readBusyQueues,
  readGranted,
  readRates,
  readRunning,
  runningOf,
} from "./read-use.ts";

/** Why a limit keeps jobs from starting, as text. */
export interface ExhaustedLimit {
  /** The reason: `10 of 10 running`. */
  readonly use: string;
  /** When the next job may start: `next in 0.4 s`; null: unknown, or part of `use`. */
  readonly next: string | null;
}

export interface BlockingLimit extends ExhaustedLimit {
  readonly definition: LimitDefinition;
  /** The queue that is full or has used up its rate; null: the limit is for tasks, or the whole limit backs off. */
  readonly queue: string | null;
  /** Whether the whole limit backs off. */
  readonly isBackOff?: true;
}

/** Returns the limits that block jobs; with `only`, the limits that block jobs of this task or in this queue. */
export async function readBlockingLimits(
  db: Database,
  only: { readonly task: string | null; readonly queue: string | null } | null = null,
): Promise<BlockingLimit[]> {
  if (!(await hasLimits(db))) return [];
  const limits = (await readLimits(db)).filter(
    ({ definition }) => only === null || isFor(definition, only[definition.scope]),
  );
  if (limits.length === 0) return [];
  const facts = {
    running: await readRunning(db, limits),
    granted: await readGranted(db, limits),
    busy: await readBusyQueues(db, limits),
    rates: await readRates(db),
  };
  return limits
    .flatMap((limit) => blockingLimits(limit, { ...facts, isExact: only !== null }))
    .filter(({ queue }) => only === null || queue === null || queue === only.queue);
}

interface Facts {
  /** If false, a rate that is nearly used up blocks, too. */
  readonly isExact: boolean;
  readonly running: ReadonlyMap<string, number>;
  readonly granted: ReadonlyMap<number, PermitUse>;
  readonly busy: readonly BusyQueue[];
  readonly rates: RateTimes;
}

function blockingLimits(limit: StoredLimit, facts: Facts): BlockingLimit[] {
  const { definition, backOff } = limit;
  if (backOff !== null) {
    const reason = backOff.reason === null ? "" : `: ${backOff.reason}`;
    const use = `backing off until ${momentText(backOff.until.getTime())}${reason}`;
    return [{ definition, queue: null, use, next: null, isBackOff: true }];
  }
  if (definition.scope === "queue") return blockingQueues(limit, facts);
  const aheadMs = facts.rates.get(limit.id)?.get("");
  const use = ofConcurrency(limit, facts, ofRate(definition, aheadMs, { isExact: false }));
  const first = use ?? ofRate(definition, aheadMs, facts);
  return first === null ? [] : [{ definition, queue: null, ...first }];
}

/**
 * Returns how the concurrency is used up; null if it is not. If workers have all permits but run fewer jobs, a rate
 * that is used up or nearly used up (`rateUse`) has precedence.
 */
function ofConcurrency(
  limit: StoredLimit,
  { running, granted }: Facts,
  rateUse: ExhaustedLimit | null,
): ExhaustedLimit | null {
  const { id, definition } = limit;
  const { concurrency } = definition;
  if (concurrency === null) return null;
  const jobs = runningOf(limit, running, granted);
  const most = numberText(concurrency);
  if (jobs >= concurrency) return { use: `${numberText(jobs)} of ${most} running`, next: null };
  if ((granted.get(id)?.permits ?? 0) < concurrency) return null;
  return (
    rateUse ?? { use: `all ${most} granted to workers, ${numberText(jobs)} running`, next: null }
  );
}

function blockingQueues({ id, definition }: StoredLimit, facts: Facts): BlockingLimit[] {
  const { busy, rates } = facts;
  const full = busy
    .filter(({ name, running, slots }) => running >= slots && isFor(definition, name))
    .map(({ name, running, slots }): BlockingLimit => {
      const use = `${numberText(running)} of ${numberText(slots)} running in ${shortName(name)}`;
      return { definition, queue: name, use, next: null };
    });
  const names = new Set(full.map(({ queue }) => queue));
  const limited = [...(rates.get(id) ?? [])].flatMap(([queue, aheadMs]): BlockingLimit[] => {
    const use = names.has(queue) ? null : ofRate(definition, aheadMs, facts);
    return use === null ? [] : [{ definition, queue, ...use }];
  });
  return [...full, ...limited];
}

function ofRate(
  definition: LimitDefinition,
  aheadMs: number | undefined,
  { isExact }: Pick<Facts, "isExact">,
): ExhaustedLimit | null {
  const { rate } = definition;
  if (rate === null || aheadMs === undefined) return null;
  const nextMs = nextStartMs(definition, aheadMs);
  if (isExact ? nextMs === 0 : !isNearlyUsedUp(definition, aheadMs)) return null;
  const use = `${numberText(rate.limit)} per ${periodWords(rate)} are used up`;
  return { use, next: `next in ${secondsText(nextMs)}` };
}

const secondsText = (ms: number): string =>
  ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${numberText(Math.ceil(ms / 1_000))} s`;

/** Returns the ids of the queues that exist, by name. */
export async function readQueueIds(
  db: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await query<{ id: number; name: string }>(db, idsSql, [names]);
  return new Map(rows.map(({ id, name }) => [name, id]));
}

const idsSql: Statement = (s) => `
select id, queue_name as name from ${s}._private_job_queues where queue_name = any($1::text[])`;
