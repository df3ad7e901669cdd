// Reads snapshots of the queue. One read is called a pulse. A pulse reads a small table whole. Of a large table, a
// pulse usually reads only the first entries of indexes. All other numbers come from the last sample and the last
// census (census.ts).
import { monotonic } from "../../base/clock.ts";
import { createCache } from "../../database/cached.ts";
import type { Database } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import { listActiveWorkers } from "../read/list-active-workers.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import { type Gauge, readGauge } from "../stats/gauge.ts";
import { sampleInTime } from "../stats/in-time.ts";
import { type IndexedCounts, readIndexed } from "../stats/indexed-counts.ts";
import { NameTallies } from "../stats/name-tallies.ts";
import { selectPages } from "../stats/page-sample.ts";
import { NOTHING_PROBED, readProbe, readProbeTallies } from "../stats/probe.ts";
import { listQueueRows } from "../stats/queue-rows.ts";
import { sampleJobs } from "../stats/sample-jobs.ts";
import { sampleNames, tallyAll } from "../stats/tally-pages.ts";
import { createCensus } from "./census.ts";
import { fleetOf } from "./fleet.ts";
import {
  countsOfParts,
  countsOfPass,
  type Heads,
  type TakenSample,
  takenSample,
  timeOf,
} from "./job-counts.ts";
import { type NameCounts, sampledNames, scannedNames, unknownNames } from "./name-counts.ts";
import type { QueueSnapshot } from "./queue-snapshot.ts";
import { createRateMeter } from "./rates.ts";

export interface Sampler {
  /** Returns a snapshot that is read after the call. All calls during a pulse share the next pulse. */
  pulse(): Promise<QueueSnapshot>;
  /** The snapshot of the last pulse; null before the first pulse, and after a failed one. */
  readonly last: QueueSnapshot | null;
  /** Reads a new sample, unless the last one is less than a second old or the last pulse has read the whole table. */
  sample(): Promise<void>;
  /** Runs Census.step(). Returns `none`, without a step, if `last` is null or `last.isSmall` is true. */
  census(): Promise<"listening" | "counted" | "complete" | "left" | "none">;
  /** How long each part's last successful run took, and when it ended, in milliseconds of the monotonic clock. */
  readonly parts: ReadonlyMap<SamplerPart, { readonly tookMs: number; readonly atMs: number }>;
}

export type SamplerPart = "pulse" | "sample" | "census";

export interface SamplerOptions {
  /** The number of pages up to which a table is read whole. Default: SMALL_TABLE_PAGES. */
  readonly smallPages?: number;
  readonly sampledPages?: number;
}

type PulseCounts = Pick<QueueSnapshot, "isSmall" | "counts" | "names">;

/** Limits the data that is sent to each viewer. */
const MAX_QUEUES = 1_000;
/** The maximum number of pages in a sample for the counts by task and queue. */
const SAMPLED_FOR_NAMES = 300;
const NOTHING_INDEXED: IndexedCounts = { tallies: new Map() };
/** If the last sample is younger, sample() reads no new one. */
const YOUNG_SAMPLE_MS = 1_000;
/** If the last sample is older, a pulse reads a new one, for example after a time without viewers. */
const OLDEST_SAMPLE_MS = 60_000;

export function createSampler(db: Database, options: SamplerOptions = {}): Sampler {
  const { smallPages = SMALL_TABLE_PAGES, sampledPages = 2_000 } = options;
  const census = createCensus();
  const rates = createRateMeter();
  const parts = new Map<SamplerPart, { tookMs: number; atMs: number }>();
  let sampled: (TakenSample & { readonly names: NameCounts; readonly atMs: number }) | null = null;
  let namesAtMs = Number.NEGATIVE_INFINITY;
  let last: QueueSnapshot | null = null;

  const timed = async <T>(part: SamplerPart, work: () => Promise<T>): Promise<T> => {
    const began = monotonic();
    const result = await work();
    parts.set(part, { tookMs: monotonic() - began, atMs: monotonic() });
    return result;
  };

  const takeSample = async (gauge: Gauge) => {
    const sample = await sampleInTime(db, "jobs", sampledPages, (pages) =>
      sampleJobs(db, selectPages(gauge.pages, pages), gauge),
    );
    const asOf = timeOf(gauge.nowMs);
    const isOld = monotonic() - namesAtMs > OLDEST_SAMPLE_MS;
    let names = sampled?.names;
    if (names === undefined || (isOld && census.begunMs === null)) {
      namesAtMs = monotonic();
      names = (await nullOnTimeout(takeNames(gauge, asOf))) ?? names ?? unknownNames(asOf);
    }
    sampled = { ...takenSample(sample, gauge.pages, asOf), names, atMs: monotonic() };
    return sampled;
  };

  const takeNames = (gauge: Gauge, asOf: string) =>
    sampleInTime(db, "names", Math.min(sampledPages, SAMPLED_FOR_NAMES), async (pages) => {
      const selected = selectPages(gauge.pages, pages);
      const tallies = new NameTallies();
      tallies.addSample(await sampleNames(db, gauge, selected));
      return sampledNames(tallies, asOf, selected.length, gauge.pages);
    });

  // A read of an index may take too long if the index begins with many dead entries.
  const readHeads = async (gauge: Gauge): Promise<Heads> => {
    const since = census.begunMs ?? gauge.nowMs;
    const probe =
      (await nullOnTimeout(readProbe(db, since, gauge.lockedQueueIds))) ?? NOTHING_PROBED;
    const talliesOf = (side: "due" | "ahead") =>
      nullOnTimeout(readProbeTallies(db, side, gauge.lockedQueueIds));
    const due = probe.isDueExact ? await talliesOf("due") : null;
    const ahead = probe.isAheadExact ? await talliesOf("ahead") : null;
    const indexed = (await nullOnTimeout(readIndexes(gauge))) ?? NOTHING_INDEXED;
    const exact = [...indexed.tallies, ...(due ?? []), ...(ahead ?? [])];
    return { probe, tallies: new Map(exact), indexed };
  };

  const readIndexes = async ({ heartbeats }: Gauge) =>
    readIndexed(db, await usableIndexes(db), heartbeats);

  /** If the read of a new sample takes too long, returns the last one; null: there is none. */
  const freshSample = async (gauge: Gauge) => {
    const before = sampled;
    if (before !== null && monotonic() - before.atMs <= OLDEST_SAMPLE_MS) return before;
    return (await nullOnTimeout(timed("sample", () => takeSample(gauge)))) ?? before;
  };

  const countAll = async (gauge: Gauge): Promise<PulseCounts | null> => {
    const rows = await nullOnTimeout(tallyAll(db, gauge));
    if (rows === null) return null;
    const tallies = new NameTallies();
    tallies.add(rows);
    const names = scannedNames(tallies, timeOf(gauge.nowMs));
    return { isSmall: true, counts: countsOfPass(gauge, names), names };
  };

  const countJobs = async (gauge: Gauge): Promise<PulseCounts> => {
    const all = gauge.pages <= smallPages ? await countAll(gauge) : null;
    if (all !== null) return all;
    const heads = await readHeads(gauge);
    const sample = await freshSample(gauge);
    const counted = census.last(gauge, heads.probe.becameDue);
    const counts = countsOfParts(gauge, heads, sample, counted);
    return { isSmall: false, counts, names: counted ?? sample?.names ?? unknownNames(counts.asOf) };
  };

  // A pulse runs its reads one after another, so that it does not use every connection of a small pool.
  const read = async (): Promise<QueueSnapshot> => {
    const gauge = await readGauge(db);
    rates.note(gauge);
    const counted = await countJobs(gauge);
    const queues = (await nullOnTimeout(listQueueRows(db, MAX_QUEUES))) ?? last?.queues ?? [];
    const workers = await listActiveWorkers(db);
    const fleet = fleetOf(workers);
    const { added, done } = rates.perMinute;
    return {
      readAtMs: monotonic(),
      gauge,
      ...counted,
      queues,
      workers,
      fleet,
      rates: { added, done: fleet.donePerMin ?? done, failed: fleet.failedPerMin },
      seen: rates.seen,
    };
  };

  const pulse = createCache(async () => {
    try {
      last = await timed("pulse", read);
      return last;
    } catch (error) {
      last = null;
      throw error;
    }
  }).fresh;

  return {
    pulse,
    get last() {
      return last;
    },
    async sample() {
      if (sampled !== null && monotonic() - sampled.atMs < YOUNG_SAMPLE_MS) return;
      const gauge = last?.gauge ?? (await readGauge(db));
      if (last?.isSmall !== true) await timed("sample", () => takeSample(gauge));
    },
    async census() {
      if (last === null || last.isSmall) return "none";
      try {
        return await timed("census", () => census.step(db));
      } catch (error) {
        census.shrink();
        throw error;
      }
    },
    parts,
  };
}
