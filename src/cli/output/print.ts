// The only way to stdout, and to stderr for what went wrong: nothing that came from the database
// reaches a terminal as it is. JSON for programs, aligned columns for people.
import { type Job, listedJobJson } from "../../domain/job.ts";
import type { LightJob } from "../../queue/pages/light-rows.ts";
import { printable, printableJson, printableLines } from "./printable.ts";

/**
 * Ends the process when nobody reads the answer any more (`worker list | head`), and says so when it
 * could not be written. Without a listener Node would print a stack trace.
 */
export function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.stderr.write(`worker: cannot write: ${error.message}\n`);
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  // What cannot be said there cannot be said anywhere, and is no reason to end.
  process.stderr.off("error", ignored).on("error", ignored);
}

const ignored = () => {};

/** From now on nobody has to read: what runs for long, and for others, outlives its reader and a full disk. */
export function outliveOutput(): void {
  process.stdout.removeAllListeners("error").on("error", ignored);
}

/** One line of text. */
export function print(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Several lines, indented. */
export function printLines(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`);
}

/** Our own text, such as the help. */
export function printOwn(text: string): void {
  process.stdout.write(text);
}

/** JSON text as one line. */
export function printJson(json: string): void {
  process.stdout.write(`${printableJson(json)}\n`);
}

/** A failure, on stderr. `details`: more lines, such as a stack. */
export function printFailure(line: string, details?: string): void {
  process.stderr.write(`${printable(line)}\n`);
  if (details !== undefined) process.stderr.write(`${printableLines(details)}\n`);
}

/** What was understood, on stderr: stdout has the answer alone. */
export function printNote(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** A failure as JSON, on stderr. */
export function printFailureJson(failure: object): void {
  process.stderr.write(`${printableJson(JSON.stringify(failure))}\n`);
}

/** One line on stderr that is written over by the next, where it is a terminal; null takes it away. */
export function printProgress(line: string | null): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line === null ? "" : printable(line)}\x1b[K`);
}

/** Rows under their column names, padded; the last column is not. */
export function printTable(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const safe = [columns, ...rows].map((row) => row.map(printable));
  const widths = columns.map((_, at) =>
    safe.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), 0),
  );
  for (const row of safe) {
    const cells = row.map((cell, at) =>
      at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0),
    );
    print(cells.join("  ").trimEnd());
  }
}

const WIDEST_ERROR = 60;
const JOB_COLUMNS = [
  ...["ID", "STATE", "TASK", "QUEUE", "PRI", "ATTEMPTS", "RUN AT", "KEY", "LAST ERROR"],
] as const;

const shortError = (error: string | null) =>
  [...(error ?? "").slice(0, 2 * WIDEST_ERROR)].slice(0, WIDEST_ERROR).join("");

/** Jobs as one row each, or as the HTTP API's JobList. */
export function printJobs(
  jobs: readonly Job[],
  json: boolean,
  nextCursor: string | null = null,
): void {
  if (json) {
    const list = jobs.map((job) => listedJobJson(job)).join(",");
    printJson(`{"jobs":[${list}],"next_cursor":${JSON.stringify(nextCursor)}}`);
    return;
  }
  printTable(
    JOB_COLUMNS,
    jobs.map((job) => [
      job.id,
      job.state,
      job.taskIdentifier ?? "",
      job.queueName ?? "",
      String(job.priority),
      `${job.attempts}/${job.maxAttempts}`,
      time(job.runAt),
      job.key ?? "",
      shortError(job.lastError),
    ]),
  );
  if (nextCursor !== null) print(`more: --cursor ${nextCursor}`);
}

/** Rows of a list; a time is shown without its fraction. */
export function printLightJobs(jobs: readonly LightJob[], nextCursor: string | null): void {
  printTable(
    JOB_COLUMNS,
    jobs.map((job) => [
      job.id,
      job.state,
      job.taskIdentifier ?? "",
      job.queueName ?? "",
      String(job.priority),
      `${job.attempts}/${job.maxAttempts}`,
      time(new Date(job.runAt)),
      job.key ?? "",
      shortError(job.errorLine),
    ]),
  );
  if (nextCursor !== null) print(`more: --cursor ${nextCursor}`);
}

/** RFC 3339 without the milliseconds. */
export function time(date: Date | null): string {
  return date === null ? "" : date.toISOString().replace(/\.\d+Z$/, "Z");
}
