// Reads groups, common factors, incidents, limits and the horizon, and caches the results for all callers.
import { monotonic } from "../base/clock.ts";
import { cachedByKey, createCache } from "../database/cached.ts";
import type { Database } from "../database/database.ts";
import { cappedValue } from "../domain/value.ts";
import { type ColumnGrouping, readColumnGroups } from "./groups/column-groups.ts";
import { readErrorGroups } from "./groups/error-groups.ts";
import { type Grouping, type Groups, MAX_ERROR_GROUPS } from "./groups/group.ts";
import { type CommonFactors, readCommon } from "./groups/read-common.ts";
import type { Horizon } from "./horizon/buckets.ts";
import { readHorizon } from "./horizon/horizon.ts";
import { readNameIds } from "./horizon/name-ids.ts";
import { createActivityWatch } from "./incidents/activity.ts";
import type { Incidents } from "./incidents/incident.ts";
import { createPoisonWalk, type PoisonWalk } from "./incidents/poison-walk.ts";
import { readIncidents } from "./incidents/read-incidents.ts";
import { type LimitUse, readLimitUses } from "./limits/limit-use.ts";
import { unreportedNote } from "./limits/unreported.ts";
import type { WaitingCounts } from "./limits/waiting.ts";
import { compileQuery } from "./query/compile-query.ts";
import { shownGroup } from "./query/facts/error-labels.ts";
import { readGauge } from "./stats/gauge.ts";
import type { SameError, SharedFacts } from "./why/explain-job.ts";
import type { LockedJobs } from "./why/task-coverage.ts";

export interface Insight extends SharedFacts {
  readonly groups: (by: Grouping, q: string, limit: number) => Promise<Groups>;
  readonly common: (q: string) => Promise<CommonFactors>;
  /** Reads the horizon of the jobs of a task and a queue. null means any task or queue. */
  readonly horizon: (
    buckets: number,
    task: string | null,
    queue: string | null,
  ) => Promise<Horizon>;
  readonly incidents: () => Promise<Incidents>;
  /** Reads how much of each limit is used. `counts` returns the numbers of jobs of each task and queue. */
  readonly limits: (counts: () => Promise<WaitingCounts>) => Promise<LimitUses>;
  /** Call this after each write of this admin, so that older cached results are read again sooner. */
  readonly changed: () => void;
}

export interface LimitUses {
  /** The use of each limit, sorted by name. */
  readonly uses: readonly LimitUse[];
  /** A note on workers that may ignore the limits; null: there is no limit, or no such worker. */
  readonly note: string | null;
}

export const DEFAULT_BUCKETS = 57;
/** The maximum number of cached results of each kind. A result has at most 1 MB. */
const MAX_KEPT = 16;
/** If the table of jobs has at most this many pages, its errors are read within a few milliseconds. */
const QUICK_PAGES = 512;

export function createInsight(db: Database): Insight {
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  let pages = Number.POSITIVE_INFINITY;
  const usual = { changedAtMs: () => writtenAtMs, isSmall: () => pages <= QUICK_PAGES };
  const seldom = { ...usual, slowIntervalMs: 30_000 };
  const keptGroups = cachedByKey<Groups>(MAX_KEPT, seldom);
  const keptCommon = cachedByKey<CommonFactors>(MAX_KEPT, seldom);
  const keptHorizons = cachedByKey<Horizon>(MAX_KEPT, usual);

  const gauged = async () => {
    const gauge = await readGauge(db);
    ({ pages } = gauge);
    return gauge;
  };

  const groups = (by: Grouping, q: string, limit: number) =>
    keptGroups(JSON.stringify([by, q, limit]), async () => {
      const jobQuery = await compileQuery(db, q);
      const gauge = await gauged();
      if (by === "error") return readErrorGroups(db, jobQuery, gauge, limit);
      return readColumnGroups(db, by satisfies ColumnGrouping, jobQuery, gauge, limit);
    });

  const horizon = (buckets: number, task: string | null, queue: string | null) =>
    keptHorizons(JSON.stringify([buckets, task, queue]), async () => {
      const filter = await readNameIds(db, task, queue);
      return readHorizon(db, buckets, filter, await gauged());
    })();

  const common = (q: string) =>
    keptCommon(q, async () => readCommon(db, await compileQuery(db, q), await gauged()))();

  const walk = createPoisonWalk();
  let lockedJobs: LockedJobs | null = null;
  const shared = {
    walk: async (...request: Parameters<PoisonWalk>) => {
      const walked = await walk(...request);
      ({ lockedJobs } = walked);
      return walked;
    },
    activity: createActivityWatch(),
    errors: () => groups("error", "is:failed", MAX_ERROR_GROUPS)(),
    horizon: () => horizon(DEFAULT_BUCKETS, null, null),
    common,
  };
  const incidents = createCache(async () => readIncidents(db, await gauged(), shared), usual);

  let limitsReadAtMs = Number.NEGATIVE_INFINITY;
  // The argument of the latest call of limits().
  let readCounts: Parameters<Insight["limits"]>[0];
  const keptLimits = createCache(async (): Promise<LimitUses> => {
    const beganAtMs = monotonic();
    const uses = await readLimitUses(db, await readCounts());
    const note = uses.length > 0 ? await unreportedNote(db) : null;
    // Set only after the read, so that a call during the read does not get an older cached value.
    limitsReadAtMs = beganAtMs;
    return { uses, note };
  }, usual);
  const limits: Insight["limits"] = (counts) => {
    readCounts = counts;
    // After a write, the limits are read again at once, because the read is cheap.
    return limitsReadAtMs <= writtenAtMs ? keptLimits.fresh() : keptLimits();
  };

  const sameError: SameError = async (task, errorStart, { pages: ofTable, asOf }) => {
    const all = groups("error", "", MAX_ERROR_GROUPS);
    const reading = all();
    reading.catch(() => {});
    const known = ofTable <= QUICK_PAGES ? await reading : all.peek();
    if (known === null) return null;
    const fingerprint = shownGroup(db, task, errorStart);
    const group = known.groups.find(({ key }) => key === fingerprint);
    // A sample may lack the job's group. The count is at least 1: the job itself.
    return group?.count ?? (known.of.precision === "exact" ? null : cappedValue(1, "sample", asOf));
  };

  return {
    groups: (by, q, limit) => groups(by, q, limit)(),
    common,
    horizon,
    incidents,
    limits,
    sameError,
    lockedJobs: () => lockedJobs,
    changed: () => {
      writtenAtMs = monotonic();
    },
  };
}
