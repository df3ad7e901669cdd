// GET /api/workers: a page of workers. GET /api/workers/{worker}: one worker.
import { WorkerError } from "../../../base/errors.ts";
import { choice } from "../../../commands/declare/field.ts";
import { jsonText } from "../../../http/response.ts";
import { jobIdJson, timeOrNull } from "../../../insight/json/exact-json.ts";
import {
  getWorker,
  type ListedWorker,
  listWorkers,
  workerSorts,
} from "../../../insight/lists/list-workers.ts";
import { withCounts } from "../../../insight/lists/queues/list-queue-page.ts";
import { queueRowsLockedBy } from "../../../insight/lists/queues/queue-rows.ts";
import { workerDifferences } from "../../../insight/lists/worker-differences.ts";
import { REPORTS_BYTES } from "../../../insight/lists/worker-reports.ts";
import type { Operation } from "../../context/admin.ts";
import { memoryFor } from "../../context/answer-bytes.ts";
import { type JsonSchema, listOf, record, value } from "../../wire/json-schema.ts";
import { inQuery, readQuery } from "../../wire/wire.ts";
import { queue, queueJson } from "./get-queues.ts";
import { listQuery, pageRequest } from "./list-query.ts";
import { nameCounts } from "./name-counts.ts";

const rate: JsonSchema = {
  type: ["integer", "number", "null"],
  description: "jobs in the last minute; null if the worker does not report this number",
};

const current = record({ id: "integer", task: "string?", since: "time" }, "RunningJob");

const members = {
  worker_id: "string",
  // `alive`, `stale` or `unknown`.
  state: "string",
  level: "string",
  started_at: "time?",
  last_heartbeat_at: "time?",
  host: "string?",
  pid: "integer?",
  version: "string?",
  node: "string?",
  slots: "integer?",
  tasks: "string[]",
  tasks_complete: "boolean",
  // Whether the report is left out, because the reports are too long in total.
  report_left_out: "boolean",
  running: value,
  fetched: "integer?",
  // The number of jobs whose `locked_by` has the worker's id now. The sum of `running` and `fetched` may differ,
  // because a worker's report may be older, and may include jobs that have only row locks.
  locked_jobs: "integer?",
  locked_queues: "integer",
  oldest_lock_at: "time?",
  done: "integer?",
  failed: "integer?",
  done_per_min: rate,
  failed_per_min: rate,
  current: listOf(current),
};

const listedWorker = record(members, "ListedWorker");

const fields = inQuery(
  choice(
    ["Fields", "full: all fields; row: without tasks, and with only the longest-running jobs"],
    ["full", "row"],
  ),
  { default: "full" },
);
const query = { ...listQuery(workerSorts, "an id, a host, a version or a task"), fields };

export const getWorkers: Operation = {
  summary: "Workers that send heartbeats, and workers without heartbeats that hold locks",
  query,
  reserves: () => memoryFor(REPORTS_BYTES),
  answer: record(
    {
      workers: listOf(listedWorker),
      next_cursor: "string?",
      counts: record({ alive: "integer", stale: "integer", unknown: "integer" }),
      // The differences between live workers; empty after the first page, and in a search.
      differences: listOf(
        record({ kind: "string", name: "string", text: "string" }, "WorkerDifference"),
      ),
    },
    "WorkerList",
  ),
  run: async (admin, request) => {
    const { fields: shown, ...rest } = readQuery(request, query);
    const pageQuery = pageRequest(rest, "state");
    const names = await nameCounts(admin);
    const { reads } = admin.databases;
    const { workers, nextCursor, counts } = await listWorkers(reads, pageQuery, names);
    const isFirst = pageQuery.cursor === null && pageQuery.search === "";
    const differences = isFirst ? await workerDifferences(reads) : [];
    const shaped = shown === "row" ? workers.map(asRow) : workers;
    const rows = shaped.map((worker) => workerJson(worker)).join(",");
    const end = JSON.stringify({ next_cursor: nextCursor, counts, differences });
    return jsonText(`{"workers":[${rows}],${end.slice(1)}`);
  },
};

const MAX_QUEUES = 100;

export const getOneWorker: Operation = {
  summary: "One worker, with its counts by task, its timetable, and the queues that it has locked",
  answer: record(
    {
      ...members,
      by_task: listOf(record({ task: "string", done: "integer", failed: "integer" })),
      cron: listOf(record({ identifier: "string", task: "string", pattern: "string" })),
      // The queues that the worker has locked, the oldest lock first; at most MAX_QUEUES.
      queues: listOf(queue),
    },
    "WorkerDetails",
  ),
  run: async (admin, request) => {
    const id = request.params["worker"] ?? "";
    const names = await nameCounts(admin);
    const worker = await getWorker(admin.databases.reads, id, names);
    if (worker === null) {
      throw new WorkerError(
        "not_found",
        "worker not found: it has sent no heartbeats and holds no locks",
      );
    }
    const { byTask, cron } = worker.report;
    const entries = cron.map(({ identifier, task, pattern }) => ({ identifier, task, pattern }));
    const rows = await queueRowsLockedBy(admin.databases.reads, id, MAX_QUEUES);
    const queues = await withCounts(admin.databases.reads, rows, names, null);
    return jsonText(
      workerJson(worker, { by_task: byTask, cron: entries, queues: queues.map(queueJson) }),
    );
  },
};

const JOBS_OF_A_ROW = 5;

function asRow(worker: ListedWorker): ListedWorker {
  const report = { ...worker.report, tasks: [], hasAllTasks: false };
  return { ...worker, report, current: worker.current.slice(0, JOBS_OF_A_ROW) };
}

/** Adds the jobs as text, because JavaScript numbers cannot hold every job id. */
function workerJson(worker: ListedWorker, more: object = {}): string {
  const { report, locks } = worker;
  const ownMembers = JSON.stringify({
    worker_id: worker.workerId,
    state: worker.state,
    level: worker.level,
    started_at: timeOrNull(worker.startedAtUs),
    last_heartbeat_at: timeOrNull(worker.lastHeartbeatAtUs),
    host: report.host,
    pid: report.pid,
    version: report.version,
    node: report.node,
    slots: report.slots,
    tasks: report.tasks,
    tasks_complete: report.hasAllTasks,
    report_left_out: report.isLeftOut,
    running: worker.running,
    fetched: worker.fetched,
    locked_jobs: worker.lockedJobs,
    locked_queues: locks?.queues ?? 0,
    oldest_lock_at: timeOrNull(locks?.oldestLockUs ?? null),
    done: report.done,
    failed: report.failed,
    done_per_min: report.donePerMin,
    failed_per_min: report.failedPerMin,
    ...more,
  });
  const jobs = worker.current.map((job) => jobIdJson(job.id, { task: job.task, since: job.since }));
  return `${ownMembers.slice(0, -1)},"current":[${jobs.join(",")}]}`;
}
