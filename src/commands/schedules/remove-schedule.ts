// Declares the command that removes a schedule. stored-schedules.ts implements the removal.

import { defineCommand, jsonOf } from "../declare/command.ts";
import { expected, identifier, scheduleText } from "./schedule-fields.ts";
import { removeSchedule } from "./stored-schedules.ts";

export const removeScheduleCommand = defineCommand({
  name: "schedule-remove",
  aliases: [],
  summary: "Remove a schedule",
  title: "Remove the schedule",
  verb: "Remove schedule",
  consequence: "The schedule is deleted. Jobs that it has added stay.",
  weight: "light",
  danger: "destroys",
  http: { path: "/api/schedules", action: "remove" },
  positionals: ["identifier"],
  fields: { identifier, revision: expected },
  dialog: "none",
  examples: ["worker schedule remove nightly --yes"],
  answer: { identifier: "string" },
  run: (db, { identifier: given, revision = null }) => removeSchedule(db, given, revision),
  sentence: (_, { identifier: given }) => `Removed ${scheduleText(given)}`,
  members: (_, { identifier: given }) => jsonOf({ identifier: given }),
});
