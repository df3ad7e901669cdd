// GET /api/cron: cron entries. GET /api/cron-entry: one cron entry. GET /api/schedules: schedules with payloads.

import { WorkerError } from "../../../base/errors.ts";
import type { AuditTrail } from "../../../commands/audit/audit-trail.ts";
import { text } from "../../../commands/declare/field.ts";
import type { Database } from "../../../database/database.ts";
import {
  missingTables,
  SCHEDULE_TABLES,
} from "../../../database/schema/extensions/missing-tables.ts";
import { MAX_PAYLOAD_BYTES } from "../../../domain/cron/schedule.ts";
import { shortName } from "../../../domain/words.ts";
import { jsonText } from "../../../http/response.ts";
import { PAGE_BYTES } from "../../../insight/expressions/large-values.ts";
import { type CronChange, cronDetailsJson, cronListJson } from "../../../insight/json/cron-json.ts";
import { missingJson } from "../../../insight/json/missing-json.ts";
import { scheduleJson } from "../../../insight/json/schedule-json.ts";
import { readCronDetails } from "../../../insight/lists/cron/cron-details.ts";
import { cronSorts, listCron } from "../../../insight/lists/cron/list-cron.ts";
import { REPORTS_BYTES } from "../../../insight/lists/worker-reports.ts";
import { MAX_LISTED, readSchedule, readSchedules } from "../../../insight/read/list-schedules.ts";
import type { Operation } from "../../context/admin.ts";
import { memoryFor } from "../../context/answer-bytes.ts";
import { listOf, orNull, record, withDescription } from "../../wire/json-schema.ts";
import { missingSchema } from "../../wire/missing-schema.ts";
import { inQuery, pageSizeInQuery, readQuery } from "../../wire/wire.ts";
import { listQuery, pageRequest } from "./list-query.ts";

const entry = record(
  {
    identifier: "string",
    task: "string?",
    known_since: "time?",
    last_execution: "time?",
    next_execution: "time?",
    // The time of the earliest tick that no worker has handled, if this tick is over two minutes old.
    late_since: "time?",
    match: "string?",
    time_zone: "string?",
    // The pattern in words, if there is a short form, and the time zone, if it is not UTC; null if there is neither.
    in_words: "string?",
    // In seconds.
    backfill: "integer?",
    pending_job_id: "integer?",
    // The number of live workers that have this entry in code.
    workers: "integer",
    // The ids of some of these workers.
    worker_ids: "string[]",
    // How the entry differs between live workers, or a notice that a schedule and an entry in code have the same
    // identifier.
    differs: "string?",
    // The quarters of an hour in which the entry has a tick: 0 begins now, 95 ends in 24 hours.
    quarters_ahead: "integer[]",
    // `code` or `schedule`. The members below are null for an entry in code.
    source: "string",
    paused_at: "time?",
    jitter_secs: "number?",
    overlap: "string?",
    revision: "integer?",
  },
  "CronEntry",
);

const query = listQuery(cronSorts, "an identifier or a task");

export const getCron: Operation = {
  summary:
    "Schedules, and cron entries in code; an entry in code has a pattern and a next tick only while a live worker has the entry",
  query,
  reserves: () => memoryFor(REPORTS_BYTES),
  answer: record({ entries: listOf(entry), next_cursor: "string?", count: "integer" }, "CronList"),
  run: async ({ databases }, request) => {
    const pageQuery = pageRequest(readQuery(request, query), "next");
    return jsonText(cronListJson(await listCron(databases.reads, pageQuery)));
  },
};

const schedule = record(
  {
    identifier: "string",
    task: "string",
    pattern: "string",
    time_zone: "string",
    in_words: "string?",
    backfill_secs: "number",
    jitter_secs: "number",
    overlap: "string",
    queue: "string?",
    max_attempts: "integer?",
    priority: "integer?",
    key: "string?",
    job_key_mode: "string?",
    paused_at: "time?",
    // null while the schedule is paused.
    next_execution: "time?",
    last_execution: "time?",
    revision: "integer",
    payload: "json",
  },
  "Schedule",
);

const tick = record(
  {
    at: "time",
    local: withDescription(
      "string",
      "the time by the clock of the entry's zone, such as Thu 26 Nov 03:00",
    ),
    utc: withDescription("string", "the same time in UTC"),
    is_after_change: withDescription(
      "boolean",
      "whether the clock of the zone changes between now and this tick",
    ),
  },
  "CronTick",
);

const entryQuery = { name: inQuery(text(["Name", "the identifier of the entry"], 1, 512)) };

const MAX_WRITES_READ = 100;
const MAX_CHANGES = 5;

export const getCronEntry: Operation = {
  summary: "One cron entry: its next ticks and, if the entry is a schedule, its definition",
  query: entryQuery,
  // For changesTo().
  reserves: () => memoryFor(PAGE_BYTES),
  answer: record(
    {
      entries: withDescription(
        listOf(entry),
        "the entries with this identifier: the schedule, then the entry in code",
      ),
      schedule: orNull(schedule),
      ticks: withDescription(
        listOf(tick),
        "the next ticks of the first entry; none while the entry is paused",
      ),
      clock_change: withDescription(
        "string?",
        "a sentence about the next clock change in the first entry's time zone; null: none within a year, or no ticks",
      ),
      changes: withDescription(
        listOf(record({ at: "time", by: "string?", message: "string" }, "CronChange")),
        `the newest ${MAX_CHANGES} actions on the schedule in the last ${MAX_WRITES_READ} entries of the audit trail`,
      ),
    },
    "CronDetails",
  ),
  run: async ({ databases: { reads }, audit }, request) => {
    const { name: identifier } = readQuery(request, entryQuery);
    if (identifier === undefined) {
      throw new WorkerError("bad_input", "name is missing: give the identifier of an entry");
    }
    const details = await readCronDetails(reads, identifier);
    if (details === null) {
      throw new WorkerError("not_found", `there is no cron entry "${shortName(identifier)}"`);
    }
    const changes = details.schedule === null ? [] : await changesTo(reads, audit, identifier);
    return jsonText(cronDetailsJson(details, changes));
  },
};

async function changesTo(
  reads: Database,
  audit: AuditTrail,
  identifier: string,
): Promise<CronChange[]> {
  const { entries } = await audit.list(reads, MAX_WRITES_READ, null);
  const writes = entries.flatMap((json) => (json.includes('"schedule-') ? [JSON.parse(json)] : []));
  return writes
    .filter(
      ({ action, changes }) => action.startsWith("schedule-") && changes?.identifier === identifier,
    )
    .slice(0, MAX_CHANGES)
    .map(({ at, by, message }) => ({ at, by, message }));
}

const schedulesQuery = {
  name: inQuery(text(["Name", "only the schedule of this name; empty: all"], 0, 128)),
  limit: pageSizeInQuery("rows on a page, 100 by default", MAX_LISTED),
  cursor: inQuery(
    text(["Cursor", "next_cursor of the previous page; empty: the first page"], 0, 512),
  ),
};

const DEFAULT_LIMIT = 100;

export const getSchedules: Operation = {
  summary: "Schedules: cron entries that can be changed while workers run, with their payloads",
  query: schedulesQuery,
  reserves: () => memoryFor(MAX_LISTED * MAX_PAYLOAD_BYTES),
  answer: record(
    {
      schedules: listOf(schedule),
      next_cursor: "string?",
      missing: missingSchema("schedule is possible"),
    },
    "ScheduleList",
  ),
  run: async ({ databases }, request) => {
    const { name = "", limit = DEFAULT_LIMIT, cursor = "" } = readQuery(request, schedulesQuery);
    const missing = await missingTables(databases.reads, SCHEDULE_TABLES);
    if (missing !== null) {
      const reason = JSON.stringify(missingJson(missing));
      return jsonText(`{"schedules":[],"next_cursor":null,"missing":${reason}}`);
    }
    if (name !== "") {
      const schedule = scheduleJson(await readSchedule(databases.reads, name));
      return jsonText(`{"schedules":[${schedule}],"next_cursor":null,"missing":null}`);
    }
    const { schedules, nextAfter } = await readSchedules(databases.reads, {
      limit,
      after: cursor === "" ? null : cursor,
    });
    const rows = schedules.map(scheduleJson).join(",");
    return jsonText(
      `{"schedules":[${rows}],"next_cursor":${JSON.stringify(nextAfter)},"missing":null}`,
    );
  },
};
