// GET /api/cron: cron entries.
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
    // The time of a past tick that was not scheduled.
    late_since: "time?",
    match: "string?",
    // The time zone of the pattern, such as Europe/Berlin.
    time_zone: "string?",
    // The pattern in words, with its zone unless it is UTC; null if it has no short form.
    in_words: "string?",
    // Seconds.
    backfill: "integer?",
    pending_job_id: "integer?",
    // The number of live workers with this entry, and some of their ids.
    workers: "integer",
    worker_ids: "string[]",
    // How the versions of the entry on live workers differ; null if they agree.
    differs: "string?",
    // The quarters of an hour in which it runs in the next 24 hours: 0 to 95.
    quarters_ahead: "integer[]",
  },
  "CronEntry",
);

const query = listQuery(cronSorts, "an identifier or a task");

export const getCron: Operation = {
  summary: "Cron entries, with the pattern and next tick of those that a live worker has",
  query,
  answer: record({ entries: listOf(entry), next_cursor: "string?", count: "integer" }, "CronList"),
  run: async ({ databases }, request) => {
    const pageQuery = pageRequest(readQuery(request, query), "next");
    return jsonText(cronListJson(await listCron(databases.reads, pageQuery)));
  },
};
