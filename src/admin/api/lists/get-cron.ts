// GET /api/cron.
import { patternInWords } from "../../../domain/cron/pattern-words.ts";
import { jsonText } from "../../../http/response.ts";
import {
  type CronPage,
  cronSorts,
  type ListedCronEntry,
  listCron,
} from "../../../queue/lists/list-cron.ts";
import type { Operation } from "../../context/admin.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { readQuery } from "../../wire/wire.ts";
import { listQuery, pageRequest } from "./list-query.ts";
import { timeOfMs } from "./list-wire.ts";

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

export function cronListJson({ entries, nextCursor, count }: CronPage): string {
  const rows = entries.map(entryJson).join(",");
  const rest = JSON.stringify({ next_cursor: nextCursor, count });
  return `{"entries":[${rows}],${rest.slice(1)}`;
}

/** By hand: the id of a job is beyond what a number holds. */
function entryJson(given: ListedCronEntry): string {
  const known = JSON.stringify({
    identifier: given.identifier,
    task: given.task,
    known_since: timeOfMs(given.knownSinceMs),
    last_execution: timeOfMs(given.lastExecutionMs),
    next_execution: timeOfMs(given.nextExecutionMs),
    late_since: timeOfMs(given.lateSinceMs),
    match: given.match,
    in_words: given.match === null ? null : patternInWords(given.match),
    backfill: given.backfillSeconds === null ? null : Math.floor(given.backfillSeconds),
    workers: given.workers,
    worker_ids: given.workerIds,
    quarters_ahead: given.quartersAhead,
  });
  return `${known.slice(0, -1)},"pending_job_id":${given.pendingJobId ?? "null"}}`;
}
