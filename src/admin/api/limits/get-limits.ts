// GET /api/limits and /api/limits/{name}: limits, and how much of each is used.

import { noLimit } from "../../../commands/limits/change-limit.ts";
import {
  LIMIT_TABLES,
  missingTables,
  requireTables,
} from "../../../database/schema/extensions/missing-tables.ts";
import { limitDetailsJson, limitJson } from "../../../insight/json/limit-json.ts";
import { missingJson } from "../../../insight/json/missing-json.ts";
import { readLimitDetails } from "../../../insight/limits/limit-details.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import { answerAt } from "../../wire/answer-at.ts";
import { listOf, orNull, record, withDescription } from "../../wire/json-schema.ts";
import { missingSchema } from "../../wire/missing-schema.ts";
import { nameCounts } from "../lists/name-counts.ts";

const queueUse = record(
  {
    name: "string",
    running: withDescription("integer", "the slots in use"),
    slots: "integer",
    waiting: "integer",
  },
  "QueueSlots",
);

const backOff = record({ until: "time", reason: "string?" }, "BackingOff");

const members = {
  name: "string",
  scope: { type: "string", enum: ["task", "queue"] },
  match: withDescription("string", "name of the tasks or queues; each * in it matches any text"),
  concurrency: withDescription("integer?", "the most jobs that run at once; null: any number"),
  rate: orNull(record({ limit: "integer", per_ms: "integer", burst: "integer" }, "LimitRate")),
  from_code: withDescription("boolean", "whether a worker's options created the limit"),
  set_by: "string?",
  set_at: "time",
  revision: "integer",
  running: withDescription(
    "integer",
    "the running jobs of the limit, as of the last heartbeats; for a limit of queues, the slots in use",
  ),
  waiting: withDescription("integer", "the due jobs of the limit that have not started"),
  waiting_precision: { type: "string", enum: ["exact", "capped", "estimated"] },
  queues: withDescription(
    "integer?",
    "the number of matching queues; null for a limit of tasks, or if there are too many",
  ),
  full: withDescription(listOf(queueUse), "full queues, at most 10"),
  full_queues: withDescription(
    "integer",
    "the number of full queues; of the queues in which no job runs, only the 200 with the most waiting jobs are counted",
  ),
  state: { type: "string", enum: ["free", "full", "backing_off"] },
  cause: withDescription("string?", "why the limit is full or backs off"),
  backing_off: orNull(backOff),
};

const answer = record(
  {
    limits: listOf(record(members, "ListedLimit")),
    note: withDescription(
      "string?",
      "which workers possibly ignore the limits; null if no such worker is known",
    ),
    missing: missingSchema("limit is possible"),
  },
  "LimitList",
);

const readUses = (admin: Admin) => admin.insight.limits(() => nameCounts(admin));

export const getLimits: Operation = {
  summary: "Limits of tasks and queues, with their running and waiting jobs",
  answer,
  run: async (admin) => {
    const { reads } = admin.databases;
    const missing = await missingTables(reads, LIMIT_TABLES);
    const { uses, note } = missing === null ? await readUses(admin) : { uses: [], note: null };
    const limits = uses.map(limitJson);
    const json = { limits, note, missing: missing === null ? null : missingJson(missing) };
    return answerAt(JSON.stringify(json));
  },
};

const permits = record(
  {
    worker_id: "string",
    permits: withDescription("integer", "the number of jobs that the worker may run at once"),
    in_use: withDescription(
      "integer",
      "the number of the worker's running jobs when it last exchanged permits",
    ),
    wanted: "integer",
  },
  "LimitPermits",
);

const pastBackOff = record(
  {
    scope: { type: "string", enum: ["limit", "task", "queue"] },
    name: "string",
    began_at: "time",
    until: "time",
    reason: "string?",
    job_id: "integer?",
    task: "string?",
  },
  "BackOff",
);

export const getLimit: Operation = {
  summary: "One limit: its use, the permits of each worker, and its back-offs of the last hour",
  answer: record(
    {
      ...members,
      permits: listOf(permits),
      queue_rows: withDescription(
        listOf(queueUse),
        "queues in which jobs run or wait, at most 200",
      ),
      back_offs: listOf(pastBackOff),
    },
    "Limit",
  ),
  run: async (admin, request) => {
    const { reads } = admin.databases;
    await requireTables(reads, LIMIT_TABLES);
    const name = request.params["name"] ?? "";
    const { uses } = await readUses(admin);
    const use = uses.find(({ limit }) => limit.definition.name === name);
    if (use === undefined) throw noLimit(name);
    const details = await readLimitDetails(reads, use.limit);
    return answerAt(JSON.stringify(limitDetailsJson(use, details)));
  },
};
