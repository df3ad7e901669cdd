// Declares the commands that pause and resume a schedule; implemented in stored-schedules.ts.

import { defineCommand, jsonOf } from "../declare/command.ts";
import {
  answer,
  expected,
  identifier,
  members,
  nextText,
  scheduleText,
} from "./schedule-fields.ts";
import { pauseSchedule, resumeSchedule } from "./stored-schedules.ts";

export const pauseScheduleCommand = defineCommand({
  name: "schedule-pause",
  aliases: [],
  summary: "Pause a schedule: it adds no jobs",
  title: "Pause the schedule",
  verb: "Pause schedule",
  consequence: "It adds no jobs until it is resumed. Jobs that it has added stay.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/schedules", action: "pause" },
  positionals: ["identifier"],
  fields: { identifier, revision: expected },
  dialog: "none",
  examples: ["worker schedule pause nightly"],
  answer: { ...answer, is_changed: "boolean" },
  run: (db, { identifier: given, revision = null }) => pauseSchedule(db, given, revision),
  sentence: ({ isChanged }, { identifier: given }) =>
    isChanged
      ? `Paused ${scheduleText(given)}`
      : `Nothing was to be done: ${scheduleText(given)} is paused already`,
  members: ({ schedule, isChanged }) => ({
    ...members(schedule),
    ...jsonOf({ is_changed: isChanged }),
  }),
});

export const resumeScheduleCommand = defineCommand({
  name: "schedule-resume",
  aliases: [],
  summary: "Resume a schedule",
  title: "Resume the schedule",
  verb: "Resume schedule",
  consequence:
    "It adds jobs from the next tick on. Ticks of the pause are added as far back as the backfill period.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/schedules", action: "resume" },
  positionals: ["identifier"],
  fields: { identifier, revision: expected },
  dialog: "none",
  examples: ["worker schedule resume nightly"],
  answer: { ...answer, is_changed: "boolean" },
  run: (db, { identifier: given, revision = null }) => resumeSchedule(db, given, revision),
  sentence: ({ schedule, isChanged }, { identifier: given }) =>
    isChanged
      ? `Resumed ${scheduleText(given)}${nextText(schedule)}`
      : `Nothing was to be done: ${scheduleText(given)} is not paused`,
  members: ({ schedule, isChanged }) => ({
    ...members(schedule),
    ...jsonOf({ is_changed: isChanged }),
  }),
});
