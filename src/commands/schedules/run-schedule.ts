// Declares the command that adds a job of a schedule now; implemented in manual-run.ts.

import { defineCommand, jsonOf } from "../declare/command.ts";
import { jobsMember } from "../jobs/define-job-action.ts";
import { runSchedule } from "./manual-run.ts";
import { identifier, scheduleText } from "./schedule-fields.ts";

export const runScheduleCommand = defineCommand({
  name: "schedule-run",
  aliases: [],
  summary: "Add a job of a schedule now",
  title: "Run the schedule now",
  verb: "Run now",
  consequence:
    "Adds one job, even if the schedule is paused or an earlier job is unfinished. The next tick does not change.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/schedules", action: "run" },
  positionals: ["identifier"],
  fields: { identifier },
  dialog: "none",
  examples: ["worker schedule run nightly"],
  answer: { identifier: "string", jobs: "ChangedJob[]" },
  run: (db, { identifier: given }) => runSchedule(db, given),
  jobIds: (job) => [job.id],
  sentence: (job, { identifier: given }) => `Added job ${job.id} of ${scheduleText(given)}`,
  members: (job, { identifier: given }) => ({
    ...jsonOf({ identifier: given }),
    ...jobsMember([job]),
  }),
});
