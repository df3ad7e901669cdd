// Calls that send the statements of schedules to a database with scripted answers. statements.ts records the statements
// for the golden files.

import {
  addSchedule,
  changeSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
} from "../../src/commands/schedules/stored-schedules.ts";
import type { Database } from "../../src/database/database.ts";
import { checkedSchedule } from "../../src/domain/cron/schedule.ts";
import {
  readSchedule,
  readSchedules,
  scheduledNames,
} from "../../src/insight/read/list-schedules.ts";
import { dueSchedules, scheduleTicks } from "../../src/queue/schedules/schedule-ticks.ts";

type Call = (db: Database) => Promise<unknown>;
type Answer = (text: string) => Record<string, unknown>;

const ROW = {
  ...{ identifier: "s", task: "t", pattern: "* * * * *", time_zone: "UTC", payload: "{}" },
  ...{ spec: "{}", jitter_ms: 0, overlap: "allow", revision: 1, now_ms: "0", next_ms: "0" },
};
const there = (paused_ms: string | null = null): Answer => {
  return () => ({ is_there: true, ...ROW, paused_ms });
};
/** The answers to an add if no schedule has the identifier. */
const free: Answer = (text) =>
  text.includes("as count") ? { is_there: false, count: 0, now_ms: "0" } : there()(text);

const definition = checkedSchedule({
  ...{ identifier: "s", taskIdentifier: "t", expression: "* * * * *", fillMs: 0 },
  ...{ jitterMs: 0, overlap: "allow" },
});
const offer = {
  ...{ identifier: "s", tickMs: 0, job: null, revision: 1 },
  overlap: "allow",
  ...{ fromMs: 0, toMs: 1 },
} as const;
const look = { nowMs: 0, sinceMs: null, after: null };

export const scheduleCalls: Readonly<Record<string, Call | readonly [Call, Answer]>> = {
  "schedule-add": [(db) => addSchedule(db, definition), free],
  "schedule-change": [(db) => changeSchedule(db, "s", { task: "t" }), there()],
  "schedule-pause": [(db) => pauseSchedule(db, "s"), there()],
  "schedule-resume": [(db) => resumeSchedule(db, "s"), there("0")],
  "schedule-remove": [(db) => removeSchedule(db, "s"), there()],
  "schedule-read": [(db) => readSchedule(db, "s"), there()],
  "schedules-read": [(db) => readSchedules(db, { after: null, limit: 1 }), there()],
  "schedules-named": [(db) => scheduledNames(db, ["s"]), there()],
  "schedules-due": [(db) => dueSchedules(db, look), there()],
  "schedules-tick": [(db) => scheduleTicks(db, [offer]), there()],
};
