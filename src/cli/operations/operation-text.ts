// Operations in words, for people at a terminal.
import type { OperationAction } from "../../queue/operations/model/action.ts";
import type { JobOperation } from "../../queue/operations/model/operation.ts";
import type { RehearsalReport, Share } from "../../queue/operations/rehearse/rehearse.ts";

export const number = (value: number) => value.toLocaleString("en-US");

const past: Readonly<Record<OperationAction, string>> = {
  complete: "Completed",
  fail: "Failed",
  retry: "Retried",
  "run-now": "Rescheduled to run now:",
  reschedule: "Rescheduled",
  remove: "Removed",
};

/** What would be done, a line each. */
export function rehearsalLines(report: RehearsalReport, isResumable: boolean): string[] {
  const { rehearsal, count, change, skipLocked, byTask, byQueue, samples, unknown } = report;
  const about = count.precision === "exact" ? "" : count.precision === "capped" ? "≥ " : "≈ ";
  const interval =
    count.precision === "estimated"
      ? ` (${number(count.low ?? 0)} to ${number(count.high ?? 0)}, from a sample)`
      : "";
  const lines = [
    `${rehearsal.action}: ${about}${number(change)} jobs${interval} that match ${rehearsal.query}`,
  ];
  if (unknown.length > 0) lines.push(`  nothing is called ${unknown.join(", ")}`);
  if (skipLocked > 0) lines.push(`  left alone: ${about}${number(skipLocked)} that run now`);
  if (change === 0) return lines;
  lines.push(`  by task: ${shares(byTask)}`, `  by queue: ${shares(byQueue)}`);
  for (const job of samples.slice(0, 3)) {
    const error = job.errorLine === null ? "" : ` ${job.errorLine.slice(0, 80)}`;
    const tries = `${job.attempts}/${job.maxAttempts}`;
    lines.push(`  such as ${job.id} ${job.taskIdentifier ?? ""} ${job.state} ${tries}${error}`);
  }
  const some = report.undoJobs < change ? `; of the first ${number(report.undoJobs)} jobs` : "";
  lines.push(
    isResumable
      ? `  can be undone for 24 hours (keeps about ${bytes(report.undoBytes)}${some})`
      : '  cannot be undone: "worker migrate --with-operations" adds what keeps the jobs as they were',
  );
  return lines;
}

const shares = (list: readonly Share[]) =>
  list
    .slice(0, 5)
    .map(({ name, count }) => `${name ?? "(none)"} ${number(count)}`)
    .join(", ");

function bytes(count: number): string {
  if (count < 1_000_000) return `${Math.max(1, Math.round(count / 1_000))} kB`;
  return `${number(Math.round(count / 1_000_000))} MB`;
}

/** While it goes on: one line. */
export function progressLine(operation: JobOperation): string {
  const { state, action, done, undone, kept, expected, ratePerS, etaS } = operation;
  const [count, of] = state === "undoing" ? [undone, kept] : [done, expected ?? 0];
  const rate = ratePerS === null ? "" : `, ${number(ratePerS)}/s`;
  const eta = etaS === null ? "" : `, ${number(etaS)} s left`;
  const what = state === "undoing" ? "undo" : state === "canary" ? `${action}, canary` : action;
  return `${what}: ${number(count)} of ${number(of)}${rate}${eta} (Ctrl-C holds it)`;
}

/** What became of it. */
export function outcomeLines(operation: JobOperation): string[] {
  const { id, state, done, undone, error, isResumable, canUndo } = operation;
  const again = (verb: string) => `worker operations ${id} ${verb}`;
  switch (state) {
    case "done":
      return [
        `${doneText(operation)}${leftAlone(operation)}`,
        ...(canUndo ? [`Undo: ${again("undo")} (until ${operation.undoUntil})`] : []),
      ];
    case "undone":
      return [
        `Undone: ${number(undone)} of ${number(done)} jobs are what they were; the others have changed since`,
      ];
    case "paused":
      return [
        `Paused after ${number(done)} jobs${error === null ? "" : `: ${error}`}`,
        `Go on: ${again("resume")} · End it: ${again("stop")}`,
      ];
    case "interrupted":
      return isResumable
        ? [
            `Held after ${number(done)} jobs; nothing more is changed`,
            `Go on: ${again("resume")} · End it: ${again("stop")}`,
          ]
        : [`Stopped after ${number(done)} jobs; the same command does the rest`];
    case "failed":
      return [`Failed after ${number(done)} jobs: ${error ?? "the log says why"}`];
    case "stopped":
      return [`Stopped after ${number(done)} jobs${leftAlone(operation)}`];
    case "running":
    case "canary":
    case "undoing":
      return [`Somebody else works on it now (${state})`];
    default:
      return state satisfies never;
  }
}

function doneText({ action, done, skippedLocked, skippedChanged }: JobOperation): string {
  const all = done + skippedLocked + skippedChanged;
  return `${past[action]} ${number(done)} of ${number(all)} ${all === 1 ? "job" : "jobs"}`;
}

function leftAlone({ skippedLocked, skippedChanged }: JobOperation): string {
  const locked = skippedLocked === 0 ? "" : `; ${number(skippedLocked)} ran at that moment`;
  const gone = skippedChanged === 0 ? "" : `; ${number(skippedChanged)} had changed since`;
  return `${locked}${gone}`;
}
