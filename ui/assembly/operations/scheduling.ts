/** The actions on a schedule: run now, pause and resume, change, remove. */
import { CLOCK } from "../controls/icon";
import { CronEntry, Fix } from "../generated/records";
import { verbArg, verbOf, writeButton } from "../kit/verb";
import { JsonWriter } from "../lib/json-writer";
import { Node } from "../lib/node";
import { Model } from "../model/model";
import { keyOf, Shortcut } from "../model/shortcut";

const CHANGE = "ask.schedule-change";

/** Whether the entry is a schedule, which is a row in the database. Other entries are in the code of workers. */
export function isSchedule(entry: CronEntry): bool {
  return entry.source === "schedule";
}

function verb(action: string, label: string, entry: CronEntry): Fix {
  const name = entry.identifier;
  const body = new JsonWriter().string("action", action).string("identifier", name).end();
  return verbOf(action, `${label} ${name}`, "/api/schedules", body);
}

function button(m: Model, action: string, label: string, entry: CronEntry, kind: string): Node {
  return writeButton(m, label + "…", "ask.verb", verbArg(verb(action, label, entry)), kind);
}

export function runButton(m: Model, entry: CronEntry, kind: string): Node {
  return button(m, "run", "Run now", entry, kind);
}

export function pauseOrResume(m: Model, entry: CronEntry, kind: string): Node {
  return isNaN(entry.pausedAt)
    ? button(m, "pause", "Pause", entry, kind)
    : button(m, "resume", "Resume", entry, kind);
}

export function changeButton(m: Model, entry: CronEntry, kind: string): Node {
  return writeButton(m, "Change…", CHANGE, changeArg(entry), kind);
}

export function removeSchedule(m: Model, entry: CronEntry, kind: string): Node {
  return button(m, "remove", "Remove", entry, kind);
}

/** Returns the argument of the dialog that changes a schedule: the revision and the name, as in `4 nightly`. */
function changeArg(entry: CronEntry): string {
  return `${entry.revision} ${entry.identifier}`;
}

/**
 * Returns the actions of the buttons above, for the palette. The action that pauses or resumes the schedule also has a
 * key.
 */
export function scheduleKeys(m: Model, entry: CronEntry, group: string): Shortcut[] {
  if (!isSchedule(entry) || !m.access.canWrite) return [];
  const isRunning = isNaN(entry.pausedAt);
  const pauses = verb(isRunning ? "pause" : "resume", isRunning ? "Pause" : "Resume", entry);
  const change = `Change ${entry.identifier}…`;
  return [
    shortcut(verb("run", "Run now", entry), "", group),
    shortcut(pauses, keyOf("pause"), group),
    new Shortcut("", change, CHANGE, changeArg(entry), group, CLOCK),
    shortcut(verb("remove", "Remove", entry), "", group),
  ];
}

function shortcut(does: Fix, keys: string, group: string): Shortcut {
  return new Shortcut(keys, does.label + "…", "ask.verb", verbArg(does), group, CLOCK);
}
