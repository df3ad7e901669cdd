// GET /api/cron.
import { jsonText } from "../../../http/response.ts";
import { cronListJson } from "../../../insight/json/cron-json.ts";
import { cronSorts, listCron } from "../../../insight/lists/list-cron.ts";
import type { Operation } from "../../context/admin.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { readQuery } from "../../wire/wire.ts";
import { listQuery, pageRequest } from "./list-query.ts";

const entry = record(
  {
    identifier: "string",
    task: "string?",
    known_since: "time?",
    last_execution: "time?",
    next_execution: "time?",
    // A tick that has passed and was not scheduled.
    late_since: "time?",
    match: "string?",
    // null where it has no short name.
    in_words: "string?",
    // Seconds.
    backfill: "integer?",
    pending_job_id: "integer?",
    // Living workers that keep it, and some of them.
    workers: "integer",
    worker_ids: "string[]",
    // The quarters of an hour from now on in which it runs, of a day: 0 to 95.
    quarters_ahead: "integer[]",
  },
  "CronEntry",
);

const query = listQuery(cronSorts, "an identifier or a task");

export const getCron: Operation = {
  summary: "Entries of timetables; pattern and next tick as far as a living worker keeps them",
  query,
  answer: record({ entries: listOf(entry), next_cursor: "string?", count: "integer" }, "CronList"),
  run: async ({ databases }, request) => {
    const asked = pageRequest(readQuery(request, query), "next");
    return jsonText(cronListJson(await listCron(databases.reads, asked)));
  },
};
