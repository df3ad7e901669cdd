// Adds a batch of jobs, some with keys. One insert cannot change a row twice, so a batch that contains a key more than
// once is added in rounds: each round adds the next job of each key. Where possible, fold-jobs.ts adds the jobs of
// several rounds in one update.
import { knownOutcome } from "../../database/connection/known-outcome.ts";
import { isPool } from "../../database/connection/pool.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { ResolvedJob } from "../../domain/job-spec.ts";
import { contendedTransaction } from "../sql/contended-query.ts";
import { type JobRow, toJob } from "../sql/job-row.ts";
import { databaseNowUs, timeText } from "../sql/moments.ts";
import { addKeyedJobs, addKeyedRows, isKeyTooBusy } from "./add-keyed-jobs.ts";
import { type Chain, computable, foldJobs } from "./fold-jobs.ts";

/**
 * Adds the jobs. Returns the jobs in the given order, each as it was right after its add. On a pool, all rounds are one
 * transaction. On a client outside a transaction, each round commits by itself.
 */
export async function addBatch(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  const all = specs.map((_, place) => place);
  if (firstOfEachKey(specs, all).rest.length === 0) {
    return knownOutcome(db, "the add of all jobs", (inside) => addKeyedJobs(inside, specs));
  }
  const add = (inside: Database) => addRounds(inside, specs, all);
  const withinMs = db.addTimeoutMs;
  // After a conflict on a client, the add is not repeated: rounds may be committed, or the transaction is aborted.
  if (!isPool(db.client)) return inTransaction(db, add, { withinMs });
  return contendedTransaction(db, add, { withinMs, isConflict: isKeyTooBusy });
}

async function addRounds(
  db: Database,
  specs: readonly ResolvedJob[],
  all: readonly number[],
): Promise<Job[]> {
  const nowUs = await databaseNowUs(db);
  const timed = withTimes(specs, Number(nowUs));
  const added: JobRow[] = [];
  let left = all;
  let mayFold = true;
  while (left.length > 0) {
    const { places, rest } = firstOfEachKey(timed, left);
    const rows = await addKeyedRows(
      db,
      places.map((place) => timed[place] as ResolvedJob),
    );
    for (const [index, place] of places.entries()) added[place] = rows[index] as JobRow;
    left = rest;
    const chains = chainsOf(timed, { added, places, rest, nowUs: Number(nowUs) });
    if (!mayFold || chains.length === 0) continue;
    const folded = await foldJobs(db, chains, nowUs);
    mayFold = folded !== null;
    if (folded === null) continue;
    for (const [index, chain] of chains.entries()) {
      for (const [step, place] of chain.places.entries()) {
        added[place] = folded[index]?.[step] as JobRow;
      }
    }
    left = rest.filter((place) => added[place] === undefined);
  }
  return added.map(toJob);
}

interface Round {
  readonly added: readonly JobRow[];
  /** The places in the batch of the jobs that this round has added. `rest`: the places of jobs still to be added. */
  readonly places: readonly number[];
  readonly rest: readonly number[];
  readonly nowUs: number;
}

/** Returns for each key the row and the next jobs whose effect on the row is computable. */
function chainsOf(
  specs: readonly ResolvedJob[],
  { added, places, rest, nowUs }: Round,
): readonly (Chain & { readonly places: readonly number[] })[] {
  const placesOf = new Map<string | null, number[]>();
  for (const place of rest) {
    const { jobKey } = specs[place] as ResolvedJob;
    const list = placesOf.get(jobKey);
    if (list === undefined) placesOf.set(jobKey, [place]);
    else list.push(place);
  }
  return places.flatMap((first) => {
    const list = placesOf.get((specs[first] as ResolvedJob).jobKey) ?? [];
    const row = added[first] as JobRow;
    const following = list.map((place) => specs[place] as ResolvedJob);
    // If the row's job has had an attempt, the next debounced job can begin a new wait, which is not computed here.
    const end = row.attempts === 0 ? -1 : following.findIndex((spec) => spec.debounce !== null);
    const known = (end < 0 ? following : following.slice(0, end)).map((spec) =>
      debounce(spec, row, nowUs),
    );
    const computed = computable({ row, specs: known });
    return computed.length === 0
      ? []
      : [{ row, specs: computed, places: list.slice(0, computed.length) }];
  });
}

function debounce(spec: ResolvedJob, { created_at_us }: JobRow, nowUs: number): ResolvedJob {
  if (spec.debounce === null) return spec;
  const { waitMs, maxWaitMs } = spec.debounce;
  const runAtUs = Math.min(nowUs + waitMs * 1_000, Number(created_at_us) + maxWaitMs * 1_000);
  return { ...spec, runAt: timeText(runAtUs), keyRule: "replace", debounce: null };
}

function firstOfEachKey(specs: readonly ResolvedJob[], all: readonly number[]) {
  const keys = new Set<string>();
  const [places, rest]: [number[], number[]] = [[], []];
  for (const place of all) {
    const { jobKey } = specs[place] as ResolvedJob;
    (jobKey !== null && keys.has(jobKey) ? rest : places).push(place);
    if (jobKey !== null) keys.add(jobKey);
  }
  return { places, rest };
}

/** Gives jobs without a time the times that a single insert of the batch would give them (given-jobs.ts). */
const withTimes = (specs: readonly ResolvedJob[], us: number): readonly ResolvedJob[] =>
  specs.map((spec, place) =>
    spec.runAt === null ? { ...spec, runAt: timeText(us - (specs.length - 1 - place)) } : spec,
  );
