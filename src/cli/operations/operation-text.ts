// Rehearsals and operations as text for a terminal.

import { isDeletion } from "../../commands/before-images/job-change.ts";
import { actionData, changeOf } from "../../commands/operations/model/action.ts";
import { notFound } from "../../commands/operations/model/not-found.ts";
import { type JobOperation, skippedJobs } from "../../commands/operations/model/operation.ts";
import type { RehearsalReport, Share } from "../../commands/operations/rehearse/rehearse.ts";
import type { MissingTables } from "../../database/schema/extensions/missing-tables.ts";
import { ageText } from "../../domain/portable/ages.ts";
import type { Value } from "../../domain/value.ts";
import { countText, numberText, shortValue } from "../../domain/words.ts";
import type { SameQueue } from "../shell/same-queue.ts";

/** Returns a number of jobs as text, such as `1 job` or `≈ 8,400 jobs`. */
export const jobsOf = (count: number | Value): string =>
  typeof count === "number"
    ? countText(count, "job")
    : `${shortValue(count)} ${count.value === 1 ? "job" : "jobs"}`;

/** Returns the result of a rehearsal. `missing`: why the tables of operations cannot be used; null if they can. */
export function rehearsalLines(
  report: RehearsalReport,
  missing: MissingTables | null,
  suggest: SameQueue,
): string[] {
  const { rehearsal, count, skipLocked, change, byTask, byQueue, samples, unknown, times } = report;
  const lines = [`${rehearsal.action}: ${jobsThatMatch(report)}`];
  if (unknown.length > 0) lines.push(`  no such name: ${unknown.join(", ")}`);
  const { ofRunning } = actionData(rehearsal.action);
  if (skipLocked.value > 0) {
    const what = ofRunning === undefined ? "skipped" : "cancelled while they run";
    lines.push(`  ${what}: ${shortValue(skipLocked)} running now`);
  }
  if (count.value === 0 && (count.precision === "exact" || byTask.length === 0)) return lines;
  lines.push(`  by task: ${shares(byTask)}`, `  by queue: ${shares(byQueue)}`);
  if (times !== null) lines.push(`  run at: the first ${times.first}, the last ${times.last}`);
  for (const job of samples.slice(0, 3)) {
    const error = job.errorLine === null ? "" : ` ${job.errorLine.slice(0, 80)}`;
    const attempts = `${job.attempts}/${job.maxAttempts}`;
    lines.push(
      `  such as ${job.id} ${job.taskIdentifier ?? ""} ${job.condition} ${attempts}${error}`,
    );
  }
  const some = report.undoJobs < change.value ? `; of the first ${jobsOf(report.undoJobs)}` : "";
  lines.push(
    missing === null
      ? `  can be undone for 24 hours (stores about ${bytes(report.undoBytes)}${some})`
      : `  ${suggest.text(missing.sentence)}`,
  );
  return lines;
}

/** Returns a text such as `3 of 6 jobs that match is:failed, those of the lowest ids`. */
function jobsThatMatch({ rehearsal, count, skipLocked, change }: RehearsalReport) {
  const { query, action } = rehearsal;
  // An action with `ofRunning` also cancels the running jobs that match.
  const running = actionData(action).ofRunning === undefined ? 0 : skipLocked.value;
  const whole = count.value - skipLocked.value;
  if (change.value >= whole) {
    const all = { ...change, value: change.value + running };
    return `${jobsOf(all)}${intervalOf(change)} that ${all.value === 1 ? "matches" : "match"} ${query}`;
  }
  return `${shortValue(change)} of ${jobsOf({ ...count, value: whole })} that match ${query}, those of the lowest ids`;
}

function intervalOf({ precision, low = 0, high, basis }: Value): string {
  if (precision !== "estimated") return "";
  const why = basis === "scan" ? "some were not checked" : "from a sample";
  return ` (${numberText(low)} to ${numberText(high ?? low)}, ${why})`;
}

const shares = (list: readonly Share[]) =>
  list
    .slice(0, 5)
    .map(({ name, count }) => `${name ?? "(none)"} ${shortValue(count)}`)
    .join(", ");

function bytes(count: number): string {
  if (count < 1_000_000) return `${Math.max(1, Math.round(count / 1_000))} kB`;
  return `${numberText(Math.round(count / 1_000_000))} MB`;
}

/** Returns the progress of a running operation, in one line. */
export function progressLine(operation: JobOperation): string {
  const { state, action, done, undone, storedRows: kept, expected, ratePerS, etaS } = operation;
  const of = expected === null ? "" : ` of ${shortValue(expected)}`;
  const progress =
    state === "undoing"
      ? `${numberText(undone)} of ${numberText(kept)}`
      : `${numberText(done)}${of}`;
  const rate = ratePerS === null ? "" : `, ${numberText(ratePerS)}/s`;
  const eta = etaS === null ? "" : `, ${ageText(etaS * 1_000)} left`;
  const what = state === "undoing" ? "undo" : state === "canary" ? `${action}, canary` : action;
  return `${what}: ${progress}${rate}${eta}`;
}

/** Returns a line with the command that undoes the operation. */
export const undoLine = (id: string, { line }: SameQueue) =>
  `Undo: ${line(`worker operations ${id} undo`)}`;

/**
 * Returns the result or state of an operation, and the commands that are possible next. `foreign`: the application's
 * columns in the table of jobs, which the undo of a deletion does not restore.
 */
export function outcomeLines(
  operation: JobOperation,
  suggest: SameQueue,
  foreign: readonly string[] = [],
): string[] {
  const { id, state, done, error, canUndo } = operation;
  const again = (verb: string) => suggest.line(`worker operations ${id} ${verb}`);
  switch (state) {
    case "done":
      return [
        `${doneText(operation)}${leftText(operation)}`,
        ...notFoundLines(operation),
        ...(canUndo ? [`${undoLine(id, suggest)} (until ${operation.undoUntil})`] : []),
      ];
    case "undone":
      return [`Undone: ${undoneOf(operation, foreign)}${undoSkippedText(operation)}`];
    case "paused":
      return [
        `Paused after ${jobsOf(done)}${error === null ? "" : `: ${error}`}`,
        `Resume: ${again("resume")} · Stop: ${again("stop")}`,
      ];
    case "interrupted":
      return [
        `${pausedText(operation)}; no more jobs are changed`,
        `Resume: ${again("resume")} · Stop: ${again("stop")}`,
      ];
    case "failed":
      return [`Failed after ${jobsOf(done)}: ${error ?? "see the log"}`];
    case "stopped":
      return [
        `Stopped after ${jobsOf(done)}${leftText(operation)}${undoneText(operation)}${error === null ? "" : `: ${error}`}`,
      ];
    case "running":
    case "canary":
    case "undoing":
      return [`Another process runs this operation now (${state})`];
    default:
      return state satisfies never;
  }
}

function undoneOf({ action, changes, done, undone }: JobOperation, foreign: readonly string[]) {
  if (foreign.length === 0 || !isDeletion(changeOf(action, changes))) {
    return `${numberText(undone)} of ${countText(done, "job is restored", "jobs are restored")}`;
  }
  const back = `${numberText(undone)} of ${countText(done, "job is restored", "jobs are restored")}`;
  const columns = foreign.length === 1 ? "column" : "columns";
  return `${back}, except for the application's ${columns} ${foreign.join(", ")}, now at the default`;
}

function pausedText({ done, undone, undoAfterId }: JobOperation): string {
  if (undoAfterId === null) return `Paused after ${jobsOf(done)}`;
  return `The undo is paused after ${numberText(undone)} of ${jobsOf(done)}`;
}

const undoneText = ({ undone, undoAfterId }: JobOperation) =>
  undoAfterId === null ? "" : `; ${numberText(undone)} of them are restored`;

function doneText(operation: JobOperation): string {
  const { action, done } = operation;
  const all = done + skippedJobs(operation);
  return `${actionData(action).words.past} ${numberText(done)} of ${jobsOf(all)}`;
}

function leftText({ action, skippedLocked, skippedChanged, skippedGone }: JobOperation): string {
  const { ofRunning } = actionData(action);
  return clauses([
    [skippedLocked, ...(ofRunning ?? (["was running"] as const))],
    [skippedChanged, "had changed since"],
    [skippedGone, "no longer existed", "no longer existed"],
  ]);
}

function undoSkippedText({ undoSkipped, done, undone }: JobOperation): string {
  const { keyTaken, changed, gone, locked } = undoSkipped;
  return clauses([
    [
      keyTaken,
      "cannot be restored: another job has its key",
      "cannot be restored: other jobs have their keys",
    ],
    [changed, "has changed since", "have changed since"],
    [gone, "no longer exists", "no longer exist"],
    [locked, "is running", "are running"],
    [
      done - undone - keyTaken - changed - gone - locked,
      "was not stored for undo (only the first million are)",
      "were not stored for undo (only the first million are)",
    ],
  ]);
}

const clauses = (list: readonly (readonly [count: number, one: string, more?: string])[]) =>
  list
    .map(([count, one, more = one]) => (count > 0 ? `; ${countText(count, one, more)}` : ""))
    .join("");

/** Returns a line about the jobs that matched at the rehearsal, but that no batch found. */
function notFoundLines(operation: JobOperation): string[] {
  const rest = notFound(operation);
  if (rest === null || (rest.low ?? rest.value) === 0) return [];
  const wereDeleted =
    rest.value === 1
      ? "was completed or deleted before its turn"
      : "were completed or deleted before their turn";
  return [
    `${shortValue(rest)} more${intervalOf(rest)} matched before and ${wereDeleted}, or no longer matched`,
  ];
}
