// The statements of src/queue, src/insight and src/commands, as they are sent. Each function in `calls` is called with
// a client that records statements and returns scripted rows (answers). Each entry of `calls` and `texts` is one golden
// file.

import { untilNotFetched } from "../../src/commands/before-images/act-on-jobs.ts";
import { cancelRunning } from "../../src/commands/cancel/cancel-running.ts";
import { waitForCancelledJobs } from "../../src/commands/cancel/wait-for-cancelled.ts";
import { cancelJobs } from "../../src/commands/jobs/cancel-jobs.ts";
import { completeJobs } from "../../src/commands/jobs/complete-jobs.ts";
import { jobActionResult } from "../../src/commands/jobs/define-job-action.ts";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { removeJob, removeRecorded } from "../../src/commands/jobs/remove-job.ts";
import { rescheduleJobs } from "../../src/commands/jobs/reschedule-jobs.ts";
import { runNow } from "../../src/commands/jobs/run-now.ts";
import { stopRetrying } from "../../src/commands/jobs/stop-retrying.ts";
import { cleanup } from "../../src/commands/maintenance/cleanup.ts";
import { forceUnlockWorkers } from "../../src/commands/maintenance/force-unlock-workers.ts";
import { sweepStaleWorkers } from "../../src/commands/maintenance/sweep-stale-workers.ts";
import { endPause, setPause } from "../../src/commands/pauses/set-pause.ts";
import type { Database, Statement } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { exactValue } from "../../src/domain/value.ts";
import { readAcknowledgement } from "../../src/insight/controls/acknowledgement.ts";
import { listPauses } from "../../src/insight/controls/list-pauses.ts";
import type { ExportFormat } from "../../src/insight/export/columns.ts";
import { exportJobs } from "../../src/insight/export/export-jobs.ts";
import { exportRequest } from "../../src/insight/export/export-request.ts";
import { readIsUnused } from "../../src/insight/incidents/activity.ts";
import type { CountedNames } from "../../src/insight/lists/counted-names.ts";
import { listCron } from "../../src/insight/lists/cron/list-cron.ts";
import { headCounts } from "../../src/insight/lists/head-counts.ts";
import { knownWorkers } from "../../src/insight/lists/known-workers.ts";
import {
  lastErrors,
  lastOfFailed,
  lastOfPages,
  lastOfRetried,
} from "../../src/insight/lists/last-errors.ts";
import { listTasks } from "../../src/insight/lists/list-tasks.ts";
import { listWorkers } from "../../src/insight/lists/list-workers.ts";
import { readPausedRun } from "../../src/insight/lists/queues/get-queue.ts";
import { probedCounts } from "../../src/insight/lists/queues/probe-queues.ts";
import { latestJobs, nextJobs, runningJob } from "../../src/insight/lists/queues/queue-jobs.ts";
import {
  allQueueRows,
  countQueues as countQueuesNamed,
  type QueueFilter,
  queueRow,
  queueRows,
  queueRowsLockedBy,
} from "../../src/insight/lists/queues/queue-rows.ts";
import { liveTasks, liveVersions } from "../../src/insight/lists/worker-reports.ts";
import { readFullRows } from "../../src/insight/pages/full-rows.ts";
import { getJob } from "../../src/insight/pages/get-job.ts";
import { readJobHead } from "../../src/insight/pages/job-head.ts";
import { isJob, jobSize, payloadPieces } from "../../src/insight/pages/job-size.ts";
import { listJobs, listLightJobs } from "../../src/insight/pages/list-jobs.ts";
import { compileQuery } from "../../src/insight/query/compile-query.ts";
import { countConditions } from "../../src/insight/read/count-conditions.ts";
import { countJobs } from "../../src/insight/read/count-jobs.ts";
import { countQueues } from "../../src/insight/read/count-queues.ts";
import { readUnusedQueues, readUnusedTasks } from "../../src/insight/read/count-unused.ts";
import { listActiveWorkers } from "../../src/insight/read/list-active-workers.ts";
import { listLockedWorkers } from "../../src/insight/read/list-locked-workers.ts";
import { listQueues } from "../../src/insight/read/list-queues.ts";
import { beginCount, countOn } from "../../src/insight/stats/count-exactly.ts";
import { countQuery } from "../../src/insight/stats/count-query.ts";
import { type Gauge, readGauge } from "../../src/insight/stats/gauge.ts";
import { readIndexed } from "../../src/insight/stats/indexed-counts.ts";
import { NameTallies } from "../../src/insight/stats/name-tallies.ts";
import { readProbe, readProbeTallies } from "../../src/insight/stats/probe.ts";
import { listQueueRows, readNames } from "../../src/insight/stats/queue-rows.ts";
import { sampleJobs } from "../../src/insight/stats/sample-jobs.ts";
import {
  isCensusFree,
  sampleNames,
  tallyAll,
  tallyChunk,
} from "../../src/insight/stats/tally-pages.ts";
import { encodeCursor, hashOfFilters } from "../../src/insight/walk/cursor.ts";
import type { JobSort } from "../../src/insight/walk/order.ts";
import type { Position } from "../../src/insight/walk/walk-place.ts";
import { readHolders, readUnsettledJobs, unknownHolder } from "../../src/insight/why/holders.ts";
import { readFetchedBefore, readHoldingJob } from "../../src/insight/why/holding-job.ts";
import { readJobFacts } from "../../src/insight/why/job-facts.ts";
import { readPlace } from "../../src/insight/why/queue-place.ts";
import { readTableFacts } from "../../src/insight/why/table-facts.ts";
import { readTaskCoverage } from "../../src/insight/why/task-coverage.ts";
import { addAnyJob, addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { copyJobs } from "../../src/queue/add/copy-jobs.ts";
import { registerTasks } from "../../src/queue/add/register-tasks.ts";
import { readCancelRequests } from "../../src/queue/cancel/cancellations.ts";
import { databaseTime } from "../../src/queue/cron/database-time.ts";
import {
  advanceCrontabs,
  lockCrontabs,
  registerCrontabs,
} from "../../src/queue/cron/known-crontabs.ts";
import { FetchedRows } from "../../src/queue/fetch/fetched-rows.ts";
import { keepJobs, keepQueue, lockStatement } from "../../src/queue/fetch/lock-jobs.ts";
import { nextRunAt } from "../../src/queue/fetch/next-run-at.ts";
import { quickStatement } from "../../src/queue/fetch/quick-fetch.ts";
import { headStatement, takeStatement } from "../../src/queue/fetch/take-jobs.ts";
import { endDuePauses } from "../../src/queue/pauses/pause.ts";
import { readPauseState } from "../../src/queue/pauses/pause-state.ts";
import { completeJobIn } from "../../src/queue/settle/complete-in.ts";
import { BY_FORMULA, failJobs, readLaterAttempts } from "../../src/queue/settle/fail.ts";
import { finishJobs } from "../../src/queue/settle/finish.ts";
import { returnJobs, returnUnknownJobs } from "../../src/queue/settle/give-back.ts";
import { queueNameOf } from "../../src/queue/sql/queue-name.ts";
import { countDeletedQueues, readLostNames } from "../../src/queue/tidy/lost-names.ts";
import { deleteOldThrottles } from "../../src/queue/tidy/old-throttles.ts";
import {
  endLeases,
  lostJobs,
  registerLease,
  sendHeartbeat,
} from "../../src/queue/workers/lease.ts";
import { recoverStaleWorkers } from "../../src/queue/workers/recover-jobs.ts";
import { renewLocks } from "../../src/queue/workers/renew-locks.ts";
import { deleteStaleWorkers, resetStaleLocks } from "../../src/queue/workers/reset-stale-locks.ts";
import { endLostConnection, markConnection } from "../../src/queue/workers/session-lock.ts";
import { operationAnswer, operationCalls } from "../commands/operation-statements.ts";
import { insightCalls } from "../insight/insight-statements.ts";
import { queryCalls } from "../insight/query-statements.ts";
import { limitCalls } from "./limit-statements.ts";
import { managedCalls, managedTexts } from "./managed-statements.ts";
import { scheduleCalls } from "./schedule-statements.ts";

type Call = (db: Database) => Promise<unknown>;
type Answer = (text: string) => Record<string, unknown>;

const KEEPING = { origin: { by: "b", source: "admin" }, action: "a", changes: {} } as const;
const ADDED = {
  id: "1",
  task_id: 1,
  task_identifier: "t",
  payload: "{}",
  key: "k",
  is_available: true,
};
const SNOOZED = {
  id: "1",
  message: "",
  payload: null,
  isKeyed: true,
  next: { kind: "snooze", delayMs: 1_000 },
} as const;
const PAUSE = { reason: "deploy", pausedBy: "ana", resumeAt: null, forMs: 1 };
const LISTED_PAUSE = {
  ...{ scope: "task", name: "t", paused_us: "1", resume_us: null, reason: null, paused_by: null },
};
const FAILURE = { id: "1", message: "no", payload: null, isKeyed: false, next: BY_FORMULA };
const FOUND = { worker_id: "w", kind: "stale", workers: "[]" };
const FIRST = { limit: 1, cursor: null, search: "" };
const QUEUES: QueueFilter = {
  search: "",
  only: "locked",
  ids: null,
  after: null,
  limit: 1,
  hasHeartbeats: true,
};
const NOTHING_COUNTED: CountedNames = {
  basis: "scan",
  tallies: new NameTallies(),
  value: () => exactValue(0, "scan", ""),
  lockedBy: () => 0,
};
const CRON = {
  cron: '[{"identifier":"c","task":"t","pattern":"* * * * *"}]',
  ids: '["w"]',
  identifier: "c",
  last_execution_ms: "0",
  now_ms: "0",
};
const BEAT = {
  ...{ leaseIds: ["w"], metadata: null, silenceMs: null },
  ...{ isBroken: false, longestGapMs: 0 },
};
const TABLE = { pages: 1, isSmall: true, hasWorkers: true, nowMs: 0, asOf: "" };
const RECOVERY = {
  staleWorkerIds: ["w"],
  messages: [null],
  delayMs: 0,
  uptimeMs: 0,
  heartbeatAtMs: 0,
  longestGapMs: 0,
};

/** The answers if the database refuses each recovery, as a trigger can. */
const refusingAll: Answer = (text) => {
  if (!/^with (turn|stale) as/m.test(text)) return { id: "1", present: true };
  throw Object.assign(new Error("no"), { code: "P0001" });
};

/** The answers if one job is found. */
const walked: Answer = (text) =>
  text.includes("as ids")
    ? { last: "1", rows: "1", matched: "1", ids: "1", keys: "1" }
    : { us: "1", task_id: 1 };
/** The answers if one job is found whose large texts a separate statement reads. */
const walkedLarge: Answer = (text) =>
  text.includes("as is_large") ? { id: "1", is_large: true } : walked(text);
/** The answers about a job with a large, compressed payload, which a second statement reads. */
const large: Answer = (text) => {
  if (!text.includes("as is_large")) return { id: "1", payload: "{}", bytes: 1 };
  const sizes = { payload_bytes: 1_000_000, error_bytes: 1 };
  return { id: "1", payload: null, is_large: true, is_packed: true, ...sizes };
};
const cursor = (sort: JobSort, position: Position) =>
  encodeCursor({
    ...{ sort, filterHash: hashOfFilters(["", "all", "", "", ""]), nowUs: "", skip: 0 },
    ...{ isExactShown: false, size: 0, isNone: false },
    place: { segment: 0, position },
  });
async function exportOf(db: Database, q: string, format: ExportFormat): Promise<void> {
  const columns = exportRequest({ withPayload: true }).columns;
  const { pieces } = await exportJobs(
    { steps: db, large: db },
    { q, format, columns, cursor: null },
  );
  let left = 3;
  for await (const _ of pieces(AbortSignal.timeout(1_000))) if (--left === 0) return;
}
/** The answers if one job is found whose line of the export is too large for a chunk. */
const exported: Answer = (text) => {
  if (text.includes("as lines")) return { lines: null, count: "0", last: null, first: "1" };
  if (text.includes("as is_large")) return { id: "1", bytes: "1", payload: '{"a":1}' };
  return text.includes("as line") ? { line: "{}" } : walked(text);
};
const NAMED_QUEUE = { id: 1, queueName: "q" };
const LAST = { key: ["1"], id: "1" };
const RANKED = cursor("-failed_at", {
  ...{ kind: "rank", after: "5", floor: LAST, bound: LAST },
  best: ["1"],
});
const TIE = cursor("-due", { kind: "tie", key: ["1"], after: "5" });
const GAUGE: Gauge = {
  nowMs: 0,
  pages: 1,
  jobsPerPage: null,
  fileNode: "1",
  inserted: 0,
  updated: 0,
  deleted: 0,
  queues: 0,
  lockedQueueIds: [],
  queueHolders: new Map(),
  heartbeats: '"worker"',
};
const LOCKS = { ...GAUGE, lockedQueueIds: [1] };
const LARGE: Gauge = { ...GAUGE, pages: 1_000_000 };
const COUNT = { count: 0, undecided: 0, firstId: "0", afterId: "0", lastId: "1" };

const emptyDatabase = {
  client: { query: async () => ({ rows: [] }) },
  schema: schemaName(),
} as never;
const failedQuery = () => compileQuery(emptyDatabase, "is:failed", { nowUs: "0" });
const checkedQuery = () => compileQuery(emptyDatabase, "payload.a:1", { nowUs: "0" });

const UNFINISHED = { by: ["args"], while: "unfinished" } as const;

const calls: Readonly<Record<string, Call | readonly [Call, Answer]>> = {
  "add-job": (db) => addJob(db, { identifier: "t", spec: { jobKey: "k" } }),
  "add-jobs-of-one-task": (db) => addJobs(db, [{ identifier: "t" }]),
  "add-jobs-mixed": (db) =>
    addJobs(db, [
      { identifier: "t", spec: { queueName: "q", runAt: "2999-01-01T00:00:00Z", priority: 1 } },
      { identifier: "u", spec: { maxAttempts: 1, flags: ["f"] } },
    ]),
  "add-keyed-jobs": (db) =>
    addJobs(db, [
      { identifier: "t", spec: { jobKey: "k" } },
      { identifier: "t", spec: { jobKey: "l", jobKeyMode: "preserve_run_at" } },
      { identifier: "t", spec: { jobKey: "m", jobKeyMode: "unsafe_dedupe" } },
    ]),
  "add-unique-jobs": (db) => addJob(db, { identifier: "t", spec: { unique: UNFINISHED } }),
  // The answer has the place -1, which no job of the batch has, so no job counts as added.
  "add-throttled-job": [
    (db) =>
      addAnyJob(db, { identifier: "t", payload: {}, spec: { throttle: { periodMs: 60_000 } } }),
    () => ({ place: -1, task_identifier: "t" }),
  ],
  "delete-old-throttles": [
    deleteOldThrottles,
    (text) => (text.includes("may_delete") ? { may_delete: true } : { deleted: 0 }),
  ],
  "add-debounced-jobs": (db) =>
    addJob(db, {
      identifier: "t",
      spec: { jobKey: "k", debounce: { waitMs: 1_000, maxWaitMs: 60_000 } },
    }),
  "add-repeated-keys": [
    (db) =>
      addJobs(db, [
        { identifier: "t", spec: { jobKey: "k" } },
        { identifier: "t", spec: { jobKey: "k" } },
      ]),
    (text) => {
      if (text.includes("existing as")) return ADDED;
      if (text.includes("has_triggers")) return { now_us: "1", has_triggers: false };
      return text.includes("written") ? { count: 1 } : { us: "1" };
    },
  ],
  "add-new-names": [
    (db) => addJob(db, { identifier: "t", spec: { jobKey: "k" } }),
    (text) =>
      text.includes("existing as") ? { id: "1", task_id: 1, task_identifier: null } : { name: "t" },
  ],
  "copy-jobs": [
    (db) => copyJobs(db, [{ identifier: "t", spec: { queueName: "q", priority: 1 } }]),
    (text) => (text.includes(" us") ? { us: "1" } : { id: 1, name: "t" }),
  ],
  ...queryCalls,
  "register-tasks": (db) => registerTasks(db, ["t"]),

  "settle-finish": (db) => finishJobs(db, "w", ["1"], "locked_by", [1]),
  "settle-finish-row-locked": (db) => finishJobs(db, "w", ["1"], "row"),
  "settle-fail": (db) => failJobs(db, "w", [FAILURE], "locked_by"),
  "settle-fail-row-locked": (db) => failJobs(db, "w", [FAILURE], "row"),
  "settle-later-attempts": (db) => readLaterAttempts(db, "w", [{ id: "1", attempts: 1 }]),
  "settle-snooze": (db) => failJobs(db, "w", [SNOOZED], "locked_by"),
  "settle-snooze-row-locked": (db) => failJobs(db, "w", [SNOOZED], "row"),
  "settle-complete-in-transaction": [(db) => completeJobIn(db, "w", "1"), () => ({ id: "1" })],
  "settle-give-back": (db) => returnJobs(db, "w", ["1"], [1]),
  "settle-give-back-unknown": (db) => returnUnknownJobs(db, "w", ["1"], [1]),

  "fetch-keep": (db) => keepJobs(db, "w", ["1"]),
  "fetch-keep-slot": (db) => keepQueue(db, "w", "-1", true),
  "fetch-next-run-at": (db) => nextRunAt(db, 0),
  "fetch-large-payloads": (db) =>
    new FetchedRows({
      ids: "{1}",
      payloads: "",
      run_ats: "AAAAAAAAAAA=",
      task_ids: "1",
      task_names: null,
      priorities: "0",
      attempts: "1",
      max_attempts: "25",
      queue_ids: null,
      queue_names: null,
      created_ats: null,
      rare: null,
    }).load(db),

  complete: (db) => completeJobs(db, ["1"]),
  "skipped-jobs": (db) => jobActionResult(db, ["1"], { jobs: [], operationId: null }),
  "complete-beside-locked-rows": [
    (db) => completeJobs(db, ["1"]),
    (text) => {
      if (text.includes("skip locked")) return {};
      throw Object.assign(new Error("canceling statement due to lock timeout"), { code: "55P03" });
    },
  ],
  fail: (db) => permanentlyFailJobs(db, ["1"], null),
  reschedule: (db) => rescheduleJobs(db, ["1"], { runAt: "now" }),
  "stop-retrying": (db) => stopRetrying(db, ["1"]),
  "remove-by-key": (db) => removeJob(db, "k"),
  "wait-for-fetched": [
    (db) => untilNotFetched(db, { key: "k" }),
    (text) => {
      if (text.includes("join"))
        throw new Error("the statements after this one would repeat earlier ones");
      return { present: true, id: "1" };
    },
  ],
  "complete-kept": (db) => completeJobs(db, ["1"], KEEPING),
  "fail-kept": (db) => permanentlyFailJobs(db, ["1"], "r", KEEPING),
  "stop-retrying-kept": (db) => stopRetrying(db, ["1"], KEEPING),
  "reschedule-kept": (db) => rescheduleJobs(db, ["1"], { runAt: "now" }, KEEPING),
  "remove-by-key-kept": (db) => removeRecorded(db, "k", KEEPING),
  "run-now": [(db) => runNow(db, ["1"], {}, null), () => ({ id: "1" })],
  "force-unlock": (db) => forceUnlockWorkers(db, ["w"]),
  "force-unlock-heartbeats": [(db) => forceUnlockWorkers(db, ["w"]), () => ({ present: true })],
  cleanup: [(db) => cleanup(db), cleanedUp()],
  "unused-names": [
    async (db) => {
      await readUnusedTasks(db, [1]);
      await readUnusedQueues(db, [1]);
    },
    () => ({ present: true, count: "0", names: "[]" }),
  ],
  "cleanup-without-heartbeats": [(db) => cleanup(db, ["gc-task-identifiers"]), cleanedUp(false)],
  sweep: [(db) => sweepStaleWorkers(db), () => ({ present: true, ...FOUND })],
  "sweep-dry-run": [
    (db) => sweepStaleWorkers(db, { dryRun: true }),
    () => ({ present: true, ...FOUND }),
  ],
  "sweep-without-heartbeats": [(db) => sweepStaleWorkers(db), () => FOUND],
  "sweep-without-heartbeats-dry-run": [
    (db) => sweepStaleWorkers(db, { dryRun: true }),
    () => FOUND,
  ],

  "cron-time": (db) => databaseTime(db),
  "cron-register": (db) => registerCrontabs(db, ["c"], 0),
  "cron-lock": (db) => lockCrontabs(db, ["c"], 0),
  "cron-advance": (db) => advanceCrontabs(db, new Map([["c", 0]])),

  "count-jobs": (db) => countJobs(db),
  "count-conditions": [(db) => countConditions(db), () => ({ present: true })],
  "stats-gauge": (db) => readGauge(db),
  "stats-tally-all": (db) => tallyAll(db, LOCKS),
  "stats-tally-chunk": (db) => tallyChunk(db, LOCKS, 0, 1),
  "stats-census-free": (db) => isCensusFree(db),
  "stats-sample-names": (db) => sampleNames(db, LOCKS, [0]),
  "stats-sample": (db) => sampleJobs(db, [0], LOCKS),
  "stats-probe": (db) => readProbe(db, 0, []),
  "stats-indexed": (db) => readIndexed(db, new Set(["running", "failed"]), GAUGE.heartbeats),
  "stats-probe-due": (db) => readProbeTallies(db, "due", [1]),
  "stats-probe-ahead": (db) => readProbeTallies(db, "ahead", [1]),
  "stats-queue-rows": (db) => listQueueRows(db, 1),
  "stats-task-names": (db) => readNames(db, "task", [1]),
  "stats-queue-names": (db) => readNames(db, "queue", [1]),
  "stats-count-small": async (db) => countQuery(db, await failedQuery(), GAUGE),
  "stats-count-sample": async (db) => countQuery(db, await failedQuery(), LARGE),
  "stats-count-checked": async (db) => countQuery(db, await checkedQuery(), LARGE),
  "stats-count-begin": (db) => beginCount(db),
  "stats-count-on": async (db) => countOn(db, await failedQuery(), COUNT),
  "stats-count-on-checked": async (db) => countOn(db, await checkedQuery(), COUNT),

  "count-queues": (db) => countQueues(db),
  "lost-names": (db) => readLostNames(db),
  "deleted-queues": (db) => countDeletedQueues(db),
  "get-job": (db) => getJob(db, "1"),
  "list-jobs": [(db) => listJobs(db, { identifier: "t" }), walked],
  "list-jobs-skip": [(db) => listJobs(db, { sort: "-id", offset: 1 }), () => ({ id: "1" })],
  "list-jobs-of-query": [(db) => listJobs(db, { q: "task:t is:failed", sort: "-id" }), walked],
  "list-jobs-of-ids": [(db) => listJobs(db, { q: "id:1,2", sort: "-attempts" }), walked],
  "list-jobs-checked": [(db) => listJobs(db, { q: "payload.a:1 or attempts>3" }), walkedLarge],
  "list-jobs-due": [(db) => listJobs(db, { sort: "due", state: "scheduled" }), walked],
  "list-jobs-priority": [(db) => listJobs(db, { sort: "priority", state: "ready" }), walked],
  "list-jobs-ranked": [(db) => listJobs(db, { sort: "-failed_at", cursor: RANKED }), walked],
  "list-jobs-tie": [(db) => listJobs(db, { sort: "-due", cursor: TIE }), walked],
  "export-jsonl": [(db) => exportOf(db, "payload.a:1", "jsonl"), exported],
  "export-csv": [(db) => exportOf(db, "", "csv"), exported],
  "job-head": (db) => readJobHead(db, "1", 100),
  "job-size": [
    (db) => jobSize(db, "1"),
    () => ({ payload_bytes: 1, is_packed: true, other_bytes: 0 }),
  ],
  "job-payload": [
    async (db) => (await isJob(db, "1")) && (await payloadPieces(db, "1"))?.pieces().next(),
    () => ({ bytes: 1, version: "1", digest: "", piece: "" }),
  ],
  "list-light-jobs": [(db) => listLightJobs(db), (text) => ({ ...walked(text), present: true })],
  "list-large-jobs": [(db) => readFullRows(db, ["1", "2", "3"]), large],
  "search-jobs": [(db) => listJobs(db, { search: "text" }), walked],
  "search-jobs-unicode": [(db) => listJobs(db, { search: "tëxt" }), walked],
  "list-queues": (db) => listQueues(db),
  "list-locked-workers": (db) => listLockedWorkers(db),
  "list-active-workers": [(db) => listActiveWorkers(db), () => ({ present: true })],

  "workers-known": [(db) => knownWorkers(db), () => ({ present: true })],
  "workers-known-without-heartbeats": (db) => knownWorkers(db),
  "workers-known-by-small-table": [
    (db) => knownWorkers(db),
    () => ({ present: true, is_small: true }),
  ],
  "workers-list": [
    (db) => listWorkers(db, { ...FIRST, sort: "id" }),
    () => ({
      present: true,
      is_small: true,
      id: "w",
      worker_id: "w",
      is_found: true,
      running: null,
      metadata: null,
    }),
  ],
  "queues-locked": (db) => queueRows(db, QUEUES),
  "queues-locked-without-heartbeats": (db) => queueRows(db, { ...QUEUES, hasHeartbeats: false }),
  "queues-free": (db) => queueRows(db, { ...QUEUES, only: "free" }),
  "queues-all": (db) => allQueueRows(db, { ...QUEUES, only: "all" }),
  "queues-all-without-heartbeats": (db) =>
    allQueueRows(db, { ...QUEUES, only: "all", hasHeartbeats: false }),
  "queues-by-name": async (db) => {
    await queueRows(db, { ...QUEUES, only: "all" });
    await countQueuesNamed(db, "");
  },
  "queues-probe": [(db) => probedCounts(db, [1]), queueIndex],
  "queue-name": (db) => queueNameOf(db, 1),
  "queue-row": [(db) => queueRow(db, "q"), () => ({ present: true })],
  "queues-locked-by": [(db) => queueRowsLockedBy(db, "w", 1), () => ({ present: true })],
  "queues-locked-by-without-heartbeats": (db) => queueRowsLockedBy(db, "w", 1),
  "queue-row-without-heartbeats": (db) => queueRow(db, "q"),
  "queue-jobs": [
    async (db) => {
      await nextJobs(db, NAMED_QUEUE, 1);
      await latestJobs(db, NAMED_QUEUE, 1);
      await runningJob(db, 1, []);
    },
    () => ({ is_small: true }),
  ],
  "queue-paused-run": (db) => readPausedRun(db, 1),
  "queue-jobs-of-large-table": [
    async (db) => {
      await nextJobs(db, NAMED_QUEUE, 1);
      await latestJobs(db, NAMED_QUEUE, 1);
    },
    (text) => (text.includes("as queue_id") ? { queue_id: 1 } : walked(text)),
  ],
  "head-counts": async (db) => {
    await headCounts(db, "queue");
    await headCounts(db, "task");
  },
  "tasks-last-errors": (db) => lastErrors(db, [1], true),
  "tasks-last-failures": (db) => lastOfFailed(db, [1]),
  "tasks-last-retries": (db) => lastOfRetried(db, [1]),
  "tasks-last-sampled": (db) => lastOfPages(db, [1], [0]),
  "tasks-list": (db) => listTasks(db, { ...FIRST, sort: "name" }, NOTHING_COUNTED),
  "living-versions": [(db) => liveVersions(db), () => ({ present: true })],
  "living-tasks": [(db) => liveTasks(db), () => ({ present: true })],
  "cron-list": [
    (db) => listCron(db, { ...FIRST, sort: "next" }),
    () => ({ present: true, is_there: true, ...CRON }),
  ],
  ...insightCalls,
  "why-job-facts": [(db) => readJobFacts(db, "1"), () => ({ present: true })],
  "why-table-facts": (db) => readTableFacts(db),
  "why-holders": (db) => readHolders(db, true, ["w"]),
  "workers-unsettled-jobs": (db) => readUnsettledJobs(db),
  "why-holding-job": async (db) => {
    await readHoldingJob(db, 1, { ...unknownHolder("w"), runningJobIds: ["1"] }, TABLE);
    await readHoldingJob(db, 1, unknownHolder("w"), TABLE);
  },
  "why-fetched-before": async (db) => {
    const table = await readTableFacts(db);
    const job = { id: "1", priority: 0, runAtText: "now" };
    await readFetchedBefore(db, 1, job, unknownHolder("w"), { ...table, hasWorkers: true });
  },
  "why-place": async (db) => {
    const job = { id: "1", queueId: 1, priority: 0, runAtText: "2026-01-31T08:00:00Z" };
    await readPlace(db, job, "");
    await readPlace(db, { ...job, queueId: null }, "");
  },
  "why-coverage": async (db) => {
    await readTaskCoverage(db, ["t"], { hasWorkers: true, jobLocks: "read" });
    await readTaskCoverage(db, ["t"], { hasWorkers: true, jobLocks: "unknown" });
  },

  "lease-register": (db) => registerLease(db, "w", "{}", 0),
  "lease-heartbeat": (db) => sendHeartbeat(db, BEAT),
  "lease-end": (db) => endLeases(db, ["w"]),
  "lease-lost-jobs": (db) => lostJobs(db, "w", ["1"]),
  "recover-jobs": (db) => recoverStaleWorkers(db, RECOVERY),
  "recover-jobs-separately": [(db) => recoverStaleWorkers(db, RECOVERY), refusingAll],
  "mark-connection": (db) => markConnection(db, "w"),
  "end-lost-connection": (db) => endLostConnection(db, "w", 1),
  "pause-queue": [
    (db) => setPause(db, { scope: "queue", name: "q" }, PAUSE),
    () => ({ is_there: true }),
  ],
  "pause-task": [
    (db) => setPause(db, { scope: "task", name: "t" }, PAUSE),
    () => ({ is_there: true }),
  ],
  "resume-queue": [(db) => endPause(db, { scope: "queue", name: "q" }), () => ({ is_there: true })],
  "resume-task": [(db) => endPause(db, { scope: "task", name: "t" }), () => ({ is_there: true })],
  "end-due-pauses": (db) => endDuePauses(db),
  acknowledgement: [(db) => readAcknowledgement(db), () => ({ is_there: true, present: true })],
  ...limitCalls,
  ...managedCalls,
  ...scheduleCalls,
  "is-unused": [(db) => readIsUnused(db), () => ({ is_unused: true })],
  "list-pauses": [(db) => listPauses(db), () => ({ is_there: true, ...LISTED_PAUSE })],
  "pause-state": (db) => readPauseState(db, null),
  "cancel-jobs": [
    (db) => cancelJobs(db, ["1"], { reason: "deploy", cancelledBy: "ana" }),
    () => ({ is_there: true, id: "1" }),
  ],
  "cancel-remove-jobs": [
    (db) => cancelJobs(db, ["1"], { remove: true }),
    () => ({ is_there: true, id: "1" }),
  ],
  "cancel-outcomes": [
    (db) => waitForCancelledJobs(db, ["1"], { timeoutMs: 1 }),
    () => ({ is_there: true, is_over: true }),
  ],
  "cancel-running-of-queue": [
    (db) => cancelRunning(db, { scope: "queue", name: "q" }, { reason: null, by: null }),
    () => ({ present: true }),
  ],
  "cancel-running-of-task": (db) =>
    cancelRunning(db, { scope: "task", name: "t" }, { reason: null, by: null }),
  "cancel-running-of-all": [
    (db) => cancelRunning(db, { scope: "all", name: "*" }, { reason: null, by: null }),
    () => ({ present: true }),
  ],
  "cancel-requests": (db) => readCancelRequests(db, ["1"]),
  "renew-locks": (db) => renewLocks(db, "w", ["1"], 0),
  "reset-stale-locks": [(db) => resetStaleLocks(db, 0), () => ({ present: true })],
  "reset-stale-locks-separately": [(db) => resetStaleLocks(db, 0), refusingAll],
  "reset-stale-locks-without-heartbeats": (db) => resetStaleLocks(db, 0),
  "delete-stale-workers": [(db) => deleteStaleWorkers(db, 0), () => ({ present: true })],

  ...Object.fromEntries(
    Object.entries(operationCalls).map(([name, call]) => [name, [call, operationAnswer]] as const),
  ),
};

const texts: Record<string, Statement> = { ...managedTexts };
const named = (parts: readonly (string | false)[]) => parts.filter(Boolean).join("-");

const forms = [
  { flags: false, pauses: false },
  { flags: true, pauses: false },
  { flags: false, pauses: true },
];
for (const { flags, pauses } of forms) {
  const suffix = (flags && "flags") || (pauses && "pauses");
  const form = { flags, pauses };
  texts[named(["fetch-quick", suffix])] = quickStatement({ ...form, mode: "locked_by" });
  texts[named(["fetch-quick-row-locked", suffix])] = quickStatement({ ...form, mode: "row" });
  texts[named(["fetch-row-locked", suffix])] = lockStatement(form);
  for (const queues of [false, true]) {
    for (const free of ["all", "safe"] as const) {
      const name = ["fetch", queues && "queues", free === "safe" && "beside-fast", suffix];
      texts[named(name)] = takeStatement({ free, queues, ...form });
      if (free === "safe" || pauses) continue;
      texts[named([...name, "excluded"])] = takeStatement({
        free,
        queues,
        excluded: true,
        ...form,
      });
      texts[named([...name, "head"])] = headStatement({ free, queues, excluded: true, ...form });
    }
  }
}

/**
 * Returns the answers if a cleanup deletes a name whose row it cannot restore, because the name already has a new row.
 * `present`: whether there is a table of workers.
 */
function cleanedUp(present = true): Answer {
  let transactions = 0;
  return (text) => {
    if (text.includes("pg_current_xact_id")) return { id: String(transactions++) };
    if (text.includes("returning names.id")) return { id: 1, name: "n" };
    if (text.includes("lost_queue")) return { queues: "[1]", queued_jobs: 1, taskless_jobs: 0 };
    return { present, deleted: "0", last: null, rows: 0, taken: 1 };
  };
}

/** The catalogue's row of the index queue_ready. */
function queueIndex() {
  return {
    index_name: "i",
    method: "btree",
    is_usable: true,
    columns: '["job_queue_id","priority","run_at","id"]',
    key_count: 3,
    operator_classes: '["int4_ops"]',
    is_plain: true,
    predicate: "(is_available AND (job_queue_id IS NOT NULL))",
    bytes: "0",
    id: 1,
  };
}

/** Returns the text of each golden file by the file's name. */
export async function statements(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const { quoted } = schemaName();
  for (const [name, statement] of Object.entries(texts)) {
    files.set(name, formatted([statement(quoted)]));
  }
  for (const [name, entry] of Object.entries(calls)) {
    const [call, answer] = typeof entry === "function" ? [entry, () => ({})] : entry;
    files.set(name, formatted(await sentBy(call, answer)));
  }
  return files;
}

async function sentBy(call: Call, answer: Answer): Promise<string[]> {
  const sent: string[] = [];
  const client = {
    // As pg does, this client calls submit() of a COPY with a connection.
    query(config: { text: string; values?: unknown[] } | CopySubmittable) {
      if ("submit" in config) {
        const connection = { query: (text: string) => sent.push(text), ...SWALLOWED };
        config.submit(connection);
        config.handleReadyForQuery();
        return;
      }
      // The query of the optional indexes is part of src/database, so it is not recorded.
      if (config.text.includes("pg_catalog.pg_index")) {
        const found = answer(config.text);
        return Promise.resolve({ rows: "is_usable" in found ? [found] : [] });
      }
      sent.push(config.text);
      // The statement that reads other open transactions finds none.
      if (config.text.includes("pg_prepared_xacts")) return Promise.resolve({ rows: [] });
      const found = answer(config.text);
      // In an answer, `present` means that the table of workers exists, and `is_there` that another table exists.
      const isOfWorkers = `${config.values?.[0]}`.endsWith("._private_workers");
      const row = isOfWorkers ? { ...found, is_there: found["present"] } : found;
      return Promise.resolve({ rows: [row] });
    },
  };
  try {
    await call({ client, schema: schemaName() } as unknown as Database);
  } catch {
    // The statements that were sent before the error are recorded.
  }
  return [...new Set(sent)];
}

interface CopySubmittable {
  submit(connection: object): void;
  handleReadyForQuery(): void;
}

const SWALLOWED = {
  endCopyFrom() {},
  stream: { cork() {}, write() {}, uncork() {} },
};

function formatted(sent: readonly string[]): string {
  return `${sent.map((text) => text.replace(/^\n+/, "").trimEnd()).join(";\n\n")}\n`;
}
