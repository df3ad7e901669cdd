// Declares the command that changes a schedule. changeSchedule() in stored-schedules.ts makes the change.
import { changedSchedule, checkedSchedule } from "../../domain/cron/schedule.ts";
import { defineCommand } from "../declare/command.ts";
import { optional } from "../declare/field.ts";
import {
  answer,
  changesOf,
  expected,
  identifier,
  members,
  nextText,
  optionFields,
  pattern,
  problemsIn,
  scheduleText,
  task,
  withWireNames,
} from "./schedule-fields.ts";
import { changeSchedule } from "./stored-schedules.ts";

/** The fields of the options, without defaults: an option that is not given keeps its stored value. */
const unchanged = Object.fromEntries(
  Object.entries(optionFields).map(([name, { default: _, ...field }]) => [name, field]),
) as typeof optionFields;

export const changeScheduleCommand = defineCommand({
  name: "schedule-change",
  aliases: [],
  summary: "Change a schedule",
  title: "Change the schedule",
  verb: "Change schedule",
  consequence:
    "For a tick that is already due, the job is added by the new definition; jobs that were added before stay as they are.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/schedules", action: "change" },
  positionals: ["identifier", "payload"],
  fields: {
    identifier,
    task: optional(task),
    pattern: optional(pattern),
    ...unchanged,
    revision: expected,
  },
  needsOneOf: ["task", "pattern", ...Object.keys(optionFields)],
  dialogFields: [
    ...["pattern", "time_zone", "payload", "backfill_secs", "jitter_secs", "overlap", "queue"],
  ],
  dialog: "schedule",
  examples: [
    "worker schedule change nightly --pattern '0 3 * * *'",
    "worker schedule change nightly --jitter 5m --revision 4",
  ],
  answer,
  // The stored schedule has not been read yet, so the changes are checked on a sample schedule.
  problems: (input) => problemsIn(() => changedSchedule(sampleFor(input), changesOf(input))),
  run: async (db, input) => {
    try {
      return await changeSchedule(db, input.identifier, changesOf(input), input.revision ?? null);
    } catch (error) {
      throw withWireNames(error);
    }
  },
  sentence: (schedule, { identifier: given }) =>
    `Changed ${scheduleText(given)}${nextText(schedule)}`,
  members,
});

function sampleFor({
  job_key_mode: mode,
  key,
}: {
  job_key_mode?: string | undefined;
  key?: string | undefined;
}) {
  const jobKey = mode !== undefined && key === undefined ? { jobKey: "sample" } : {};
  return checkedSchedule({
    ...{ identifier: "sample", taskIdentifier: "sample", expression: "* * * * *", ...jobKey },
    ...{ fillMs: 0, jitterMs: 0, overlap: "allow" },
  });
}
