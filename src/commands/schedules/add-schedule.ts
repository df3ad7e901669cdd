// Declares the command that adds a schedule. stored-schedules.ts stores the schedule.

import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { requireTables, SCHEDULE_TABLES } from "../../database/schema/extensions/missing-tables.ts";
import { checkedSchedule, type ScheduleDefinition } from "../../domain/cron/schedule.ts";
import { countText, shortName } from "../../domain/words.ts";
import { liveCron } from "../../insight/lists/worker-reports.ts";
import type { StoredSchedule } from "../../queue/schedules/schedule-row.ts";
import { defineCommand } from "../declare/command.ts";
import type { Input } from "../declare/field.ts";
import {
  answer,
  changesOf,
  identifier,
  members,
  nextText,
  optionFields,
  pattern,
  problemsIn,
  scheduleText,
  task,
} from "./schedule-fields.ts";
import { addSchedule } from "./stored-schedules.ts";

const fields = { identifier, task, pattern, ...optionFields };

export const addScheduleCommand = defineCommand({
  name: "schedule-add",
  aliases: [],
  summary: "Add a schedule: a cron entry that can be changed while workers run",
  title: "Add a schedule",
  verb: "Add schedule",
  consequence: "Workers of this library add a job at each tick, starting with the next one.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/schedules", action: "add" },
  positionals: ["identifier", "payload"],
  fields,
  dialogFields: [
    ...["identifier", "task", "pattern", "time_zone", "payload"],
    ...["backfill_secs", "jitter_secs", "overlap", "queue"],
  ],
  dialog: "schedule",
  examples: [
    "worker schedule add nightly --task report --pattern '30 2 * * *' --time-zone Europe/Berlin",
    `worker schedule add sync '{"full": true}' --task sync --cron '*/5 * * * *' --overlap skip`,
  ],
  answer,
  problems: (input) => problemsIn(() => definitionOf(input)),
  run: (db, input) => addNewSchedule(db, definitionOf(input)),
  sentence: (schedule) =>
    `Added ${scheduleText(schedule.definition.entry.identifier)}${nextText(schedule)}`,
  members,
});

function definitionOf(input: Input<typeof fields>): ScheduleDefinition {
  const { task: taskIdentifier, pattern: expression, ...options } = changesOf(input);
  const { fillMs, jitterMs, overlap, payload, ...rest } = options;
  return checkedSchedule({
    identifier: input.identifier,
    taskIdentifier: taskIdentifier ?? "",
    expression: expression ?? "",
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
    payload,
    fillMs: fillMs ?? 0,
    jitterMs: jitterMs ?? 0,
    overlap: overlap ?? "allow",
  });
}

/** Like addSchedule(), but also throws `conflict` if a cron entry of a running worker has the same identifier. */
export async function addNewSchedule(
  db: Database,
  definition: ScheduleDefinition,
): Promise<StoredSchedule> {
  await requireTables(db, SCHEDULE_TABLES);
  const { identifier: wanted } = definition.entry;
  const entry = (await liveCron(db)).find((one) => one.identifier === wanted);
  if (entry !== undefined) {
    const workers = countText(entry.workers, "running worker has", "running workers have");
    const sentence = `${workers} the cron entry "${shortName(wanted)}" in code or a crontab; use another identifier, or remove that entry first`;
    throw new WorkerError("conflict", sentence);
  }
  return addSchedule(db, definition);
}
