// Declares the commands that pause and resume a schedule. The changes themselves are made in stored-schedules.ts.

import { defineCommand, jsonOf } from "../declare/command.ts";
import {
  answer,
  expected,
  identifier,
  members,
  nextText,
  scheduleText,
} from "./schedule-fields.ts";
import { type PausedSchedule, pauseSchedule, resumeSchedule } from "./stored-schedules.ts";

/** The parts that both commands share. */
const both = {
  aliases: [],
  weight: "light",
  danger: "changes",
  positionals: ["identifier"],
  fields: { identifier, revision: expected },
  dialog: "none",
  answer: { ...answer, is_changed: "boolean" },
  members: ({ schedule, isChanged }: PausedSchedule) => ({
    ...members(schedule),
    ...jsonOf({ is_changed: isChanged }),
  }),
} as const;

export const pauseScheduleCommand = defineCommand({
  ...both,
  name: "schedule-pause",
  summary: "Pause a schedule: it adds no jobs",
  title: "Pause the schedule",
  verb: "Pause schedule",
  consequence: "It adds no jobs until it is resumed. Jobs that it has added stay.",
  http: { path: "/api/schedules", action: "pause" },
  examples: ["worker schedule pause nightly"],
  run: (db, { identifier: given, revision = null }) => pauseSchedule(db, given, revision),
  sentence: ({ isChanged }, { identifier: given }) =>
    isChanged
      ? `Paused ${scheduleText(given)}`
      : `Nothing changed: ${scheduleText(given)} is paused already`,
});

export const resumeScheduleCommand = defineCommand({
  ...both,
  name: "schedule-resume",
  summary: "Resume a schedule",
  title: "Resume the schedule",
  verb: "Resume schedule",
  consequence:
    "It adds jobs from the next tick on, and those of missed ticks within the backfill period.",
  http: { path: "/api/schedules", action: "resume" },
  examples: ["worker schedule resume nightly"],
  run: (db, { identifier: given, revision = null }) => resumeSchedule(db, given, revision),
  sentence: ({ schedule, isChanged }, { identifier: given }) =>
    isChanged
      ? `Resumed ${scheduleText(given)}${nextText(schedule)}`
      : `Nothing changed: ${scheduleText(given)} is not paused`,
});
