// GET /api/queues: named queues. GET /api/queues/{queue} and /api/queue?name=: one queue with some of its jobs.
import { WorkerError } from "../../../base/errors.ts";
import { choice, text } from "../../../commands/declare/field.ts";
import type { HttpResponse } from "../../../http/response.ts";
import { readAcknowledgement } from "../../../insight/controls/acknowledgement.ts";
import {
  acknowledgementJson,
  acknowledgementShape,
  pauseJson,
} from "../../../insight/controls/pause-text.ts";
import { jobIdJson, timeOfMs, timeOrNull } from "../../../insight/json/exact-json.ts";
import { getQueue } from "../../../insight/lists/queues/get-queue.ts";
import {
  type ListedQueue,
  listQueuePage,
  queueSorts,
} from "../../../insight/lists/queues/list-queue-page.ts";
import type { QueuedJob } from "../../../insight/lists/queues/queue-jobs.ts";
import { queueStates } from "../../../insight/lists/queues/queue-states.ts";
import { timeText } from "../../../queue/sql/moments.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import { answerAt } from "../../wire/answer-at.ts";
import { listOf, orNull, record, value, withDescription } from "../../wire/json-schema.ts";
import { countInQuery, inQuery, readQuery } from "../../wire/wire.ts";
import { pauseSchema } from "./get-pauses.ts";
import { listQuery, MAX_LIMIT, pageRequest } from "./list-query.ts";
import { nameCounts } from "./name-counts.ts";

export const queue = record(
  {
    id: "integer",
    queue_name: "string",
    locked_at: "time?",
    locked_by: "string?",
    // The state of the worker that has locked the queue: alive, stale or unknown; null if the queue has no such worker.
    holder: "string?",
    stuck_since: "time?",
    paused: withDescription(orNull(pauseSchema), "the pause of the queue; null: not paused"),
    // The number of due jobs that have attempts left and are not locked, whether their queue is locked or not.
    ready: value,
    scheduled: value,
    running: value,
    failed: value,
    total: value,
    oldest_ready_at: "time?",
  },
  "ListedQueue",
);

const only = inQuery(choice(["Only", "only queues in this state"], queueStates));
const query = { ...listQuery(queueSorts, "a name"), only };

/** The number of queues in each state (queue-states.ts). A nullable number is null if not all jobs were counted. */
const states = record(
  {
    stuck: "integer",
    running: "integer",
    failed: "integer?",
    ready: "integer?",
    scheduled: "integer?",
    failing: "integer?",
    waiting: "integer?",
    idle: "integer?",
  },
  "QueueStates",
);

export const getQueues: Operation = {
  summary: "Named queues with their counts, stuck queues first",
  query,
  answer: record(
    {
      queues: listOf(queue),
      next_cursor: "string?",
      count: "integer?",
      states: { anyOf: [states, { type: "null" }] },
    },
    "QueueList",
  ),
  run: async (admin, request) => {
    const { only = null, ...rest } = readQuery(request, query);
    const pageQuery = { ...pageRequest(rest, "stuck"), only };
    const names = await nameCounts(admin);
    const { queues, nextCursor, count, states } = await listQueuePage(
      admin.databases.reads,
      pageQuery,
      names,
    );
    return answerAt(
      JSON.stringify({ queues: queues.map(queueJson), next_cursor: nextCursor, count, states }),
    );
  },
};

const job = record(
  {
    id: "integer",
    task: "string?",
    priority: "integer",
    run_at: "time",
    created_at: "time",
    attempts: "integer",
    max_attempts: "integer",
    locked_at: "time?",
  },
  "QueuedJob",
);

const NOT_ALL = "false: a large table was read only in part; the cursor continues the list";

const oneQuery = {
  limit: countInQuery(
    "jobs in each list, 50 by default; larger numbers are reduced to the maximum",
    MAX_LIMIT,
  ),
};

const namedQuery = {
  name: inQuery(text(["Name", "the queue's name, with any characters"], 0, 4_096)),
  ...oneQuery,
};

export const getOneQueue: Operation = {
  summary: "One named queue by its name or id: its running job, the next jobs, the latest jobs",
  query: oneQuery,
  answer: record(
    {
      queue,
      acknowledgement: withDescription(
        orNull(record(acknowledgementShape, "Acknowledgement")),
        "how many live workers have acknowledged all pauses; null: the queue is not paused",
      ),
      // null if no job of the queue runs, if a limit of queues applies to the queue, or if the job cannot be found.
      running: { anyOf: [job, { type: "null" }] },
      next: listOf(job),
      next_complete: withDescription("boolean", NOT_ALL),
      next_cursor: withDescription(
        "string?",
        "continues the list at /api/jobs?queue=…&q=is:due&sort=priority; null: nothing follows, or an index gave these jobs",
      ),
      arrivals: listOf(job),
      arrivals_complete: withDescription("boolean", NOT_ALL),
      arrivals_cursor: withDescription(
        "string?",
        "continues the list at /api/jobs?queue=…&sort=-id; null: nothing follows, or an index gave these jobs",
      ),
    },
    "QueueDetails",
  ),
  run: async (admin, request) => {
    const { limit } = readQuery(request, oneQuery);
    return answerOne(admin, request.params["queue"] ?? "", limit);
  },
};

/**
 * GET /api/queue?name= is for names that a path cannot have: the empty name, and `.` and `..`, which clients remove.
 */
export const getNamedQueue: Operation = {
  ...getOneQueue,
  summary: "A named queue by its name, which may be empty, `.` or `..`",
  query: namedQuery,
  run: async (admin, request) => {
    const { name, limit } = readQuery(request, namedQuery);
    if (name === undefined)
      throw new WorkerError("bad_input", "name is missing: give the name of a queue");
    return answerOne(admin, name, limit);
  },
};

async function answerOne(admin: Admin, name: string, limit = 50): Promise<HttpResponse> {
  const names = await nameCounts(admin);
  const found = await getQueue(admin.databases.reads, name, Math.min(limit, MAX_LIMIT), names);
  if (found === null) throw new WorkerError("not_found", "the queue does not exist");
  const { queue, running, next, arrivals } = found;
  const isPaused = queue.pause !== null;
  const workers = isPaused
    ? acknowledgementJson(await readAcknowledgement(admin.databases.reads))
    : null;
  return answerAt(`{"queue":${JSON.stringify(queueJson(queue))},
"acknowledgement":${JSON.stringify(workers)},
"running":${running === null ? "null" : jobJson(running)},
"next":[${next.jobs.map(jobJson).join(",")}],"next_complete":${next.isComplete},
"next_cursor":${JSON.stringify(next.nextCursor)},
"arrivals":[${arrivals.jobs.map(jobJson).join(",")}],"arrivals_complete":${arrivals.isComplete},
"arrivals_cursor":${JSON.stringify(arrivals.nextCursor)}}`);
}

export function queueJson(listed: ListedQueue) {
  return {
    id: listed.id,
    queue_name: listed.queueName,
    locked_at: timeOrNull(listed.lockedAtUs),
    locked_by: listed.lockedBy,
    holder: listed.holder,
    stuck_since: timeOrNull(listed.stuckSinceUs),
    paused: listed.pause === null ? null : pauseJson(listed.pause),
    ready: listed.ready,
    scheduled: listed.scheduled,
    running: listed.running,
    failed: listed.failed,
    total: listed.total,
    oldest_ready_at: timeOfMs(listed.oldestReadyMs),
  };
}

function jobJson(listed: QueuedJob): string {
  return jobIdJson(listed.id, {
    task: listed.task,
    priority: listed.priority,
    run_at: timeText(listed.run_at_us),
    created_at: timeText(listed.created_at_us),
    attempts: listed.attempts,
    max_attempts: listed.max_attempts,
    locked_at: timeOrNull(listed.locked_at_us),
  });
}
