// Calls that send the statements of groups, horizon and incidents. For the golden files, test/queue/statements.ts makes
// the calls and records their statements, without PostgreSQL. Each statement is answered with an empty row, unless
// the call has an Answer. An Answer returns the row that the call needs for its later statements.
import type { Database } from "../../src/database/database.ts";
import { readColumnGroups } from "../../src/insight/groups/column-groups.ts";
import { readErrorGroups } from "../../src/insight/groups/error-groups.ts";
import type { Groups } from "../../src/insight/groups/group.ts";
import { readNewest } from "../../src/insight/groups/job-rows.ts";
import { readPayloads } from "../../src/insight/groups/payload-rows.ts";
import { countAll } from "../../src/insight/horizon/count-all.ts";
import { readNameIds } from "../../src/insight/horizon/name-ids.ts";
import { probeBuckets } from "../../src/insight/horizon/probe-buckets.ts";
import { sampleBuckets } from "../../src/insight/horizon/sample-buckets.ts";
import { createActivityWatch } from "../../src/insight/incidents/activity.ts";
import { readCrashes, readFailedByHand } from "../../src/insight/incidents/crashes.ts";
import { readDueHead } from "../../src/insight/incidents/due-head.ts";
import {
  hasLiveWorker,
  readLockedQueues,
  readPausedQueues,
  readStaleWorkers,
} from "../../src/insight/incidents/holders-at-fault.ts";
import { createPoisonWalk } from "../../src/insight/incidents/poison-walk.ts";
import { readServerTrouble } from "../../src/insight/incidents/server-trouble.ts";
import type { JobQuery } from "../../src/insight/query/job-query.ts";
import type { Gauge } from "../../src/insight/stats/gauge.ts";

type Call = (db: Database) => Promise<unknown>;
type Answer = (text: string) => Record<string, unknown>;

const decidedInSql = {
  text: "task:t",
  sql: (first: number) => `(jobs.task_id = any($${first}::int[]))`,
  values: [[1]],
  check: null,
  marks: () => "null::text",
  shape: { conditions: null },
  isEmpty: false,
} as unknown as JobQuery;
const decidedHere: JobQuery = { ...decidedInSql, check: () => true };
const gauge = { pages: 1, nowMs: 0, lockedQueueIds: [1], fileNode: "1" } as unknown as Gauge;
const filter = { taskId: null, queueId: null };
const buckets = { bounds: ["2026-01-31T08:00:00Z"], filter, gauge };

const oneGroup = {
  groups: [{ key: "0", label: "no", count: { value: 1, precision: "exact" }, sampleIds: [] }],
} as unknown as Groups;

/** A value of `smallPages` with which every table counts as large, so that a sample is read. */
const LARGE = -1;
const others = { matching: false as const, taskIds: [1] };

export const insightCalls: Readonly<Record<string, Call | readonly [Call, Answer]>> = {
  "groups-errors": (db) => readErrorGroups(db, decidedInSql, gauge, 1),
  "groups-errors-sample": (db) => readErrorGroups(db, decidedInSql, gauge, 1, LARGE),
  "groups-errors-newest": (db) => readNewest(db, decidedInSql),
  "groups-checked": (db) => readColumnGroups(db, "task", decidedHere, gauge, 1),
  "groups-checked-sample": (db) => readColumnGroups(db, "task", decidedHere, gauge, 1, LARGE),
  "groups-tasks": (db) => readColumnGroups(db, "task", decidedInSql, gauge, 1),
  "groups-workers-sample": (db) => readColumnGroups(db, "worker", decidedInSql, gauge, 1, LARGE),
  "groups-payloads": async (db) => {
    await readPayloads(db, decidedInSql, { matching: true }, gauge, 1);
    await readPayloads(db, decidedInSql, others, gauge, 1);
    await readPayloads(db, decidedHere, others, gauge, 1);
  },
  "groups-payloads-sample": [
    (db) => readPayloads(db, decidedInSql, { matching: true }, gauge, LARGE),
    () => ({ first: "1", last: "1", payload: "{}", is_match: true }),
  ],
  "horizon-all": (db) => countAll(db, buckets),
  "horizon-sample": (db) => sampleBuckets(db, buckets),
  "horizon-probe": [
    (db) => probeBuckets(db, buckets),
    () => ({ bucket: 0, most: 1, priorities: 1, condition: "ready", count: "1" }),
  ],
  "horizon-names": (db) => readNameIds(db, "t", "q"),
  "incidents-due-head": (db) => readDueHead(db, [1], [1], 0),
  "incidents-held-queues": (db) => readLockedQueues(db, false),
  "incidents-paused-queues": (db) => readPausedQueues(db),
  "incidents-live-worker": (db) => hasLiveWorker(db, true),
  "incidents-stale-workers": (db) => readStaleWorkers(db, true),
  "incidents-poison": (db) => createPoisonWalk()(db, gauge),
  "incidents-activity": (db) => createActivityWatch()(db, { ...gauge, pages: 1 }),
  "incidents-crashes": (db) => readCrashes(db, true),
  "incidents-failed-by-hand": [
    (db) => readFailedByHand(db, oneGroup),
    () => ({ is_there: true, id: "1", reason: "no", count: 1 }),
  ],
  "incidents-server": (db) => readServerTrouble(db),
};
