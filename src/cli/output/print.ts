// Prints answers on stdout, and failures on stderr. Text from the database is always made printable.
import { type Job, listedJobJson } from "../../domain/job.ts";
import type { LightJob } from "../../insight/pages/light-rows.ts";
import { type Colour, colourText } from "./colour.ts";
import { printable, printableJson, printableLines } from "./printable.ts";
import { tableLines } from "./table.ts";

/**
 * Makes write errors of stdout end the process. If the reader has closed stdout, as in `worker list | head`, no error
 * is printed.
 */
export function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.stderr.write(`worker: cannot write: ${error.message}\n`);
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  // A write error of stderr cannot be reported.
  process.stderr.off("error", ignored).on("error", ignored);
}

const ignored = () => {};

/** Ignores write errors of stdout, so that the process continues if the reader has ended. */
export function outliveOutput(): void {
  process.stdout.removeAllListeners("error").on("error", ignored);
}

/** Prints one line, with its first word in `colour`. */
export function print(line: string, colour: Colour | null = null): void {
  const [word = ""] = colour === null ? [] : line.split(" ", 1);
  const first = colourText(printable(word), colour, process.stdout);
  process.stdout.write(`${first}${printable(line.slice(word.length))}\n`);
}

/** Prints several lines, indented. */
export function printLines(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`);
}

/** Prints text of the program itself, such as the help, unchanged. */
export function printOwn(text: string): void {
  process.stdout.write(text);
}

/** Prints JSON text as one line. */
export function printJson(json: string): void {
  process.stdout.write(`${printableJson(json)}\n`);
}

/** Prints a failure on stderr. `details`: more lines, such as a stack. */
export function printFailure(line: string, details?: string): void {
  const [word = ""] = line.split(" ", 1);
  const colour = word === "worker:" ? "red" : null;
  const first = colourText(printable(word), colour, process.stderr);
  process.stderr.write(`${first}${printable(line.slice(word.length))}\n`);
  if (details !== undefined) process.stderr.write(`${printableLines(details)}\n`);
}

/** Prints a note on stderr, because stdout has only the answer. */
export function printNote(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** Prints a failure on stderr as JSON. */
export function printFailureJson(failure: object): void {
  process.stderr.write(`${printableJson(JSON.stringify(failure))}\n`);
}

/** If stderr is a terminal, prints a line on stderr that the next call overwrites; null clears the line. */
export function printProgress(line: string | null): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line === null ? "" : printable(line)}\x1b[K`);
}

/** Prints rows below their column names. */
export function printTable(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  process.stdout.write(`${tableLines(columns, rows, process.stdout).join("\n")}\n`);
}

const JOB_COLUMNS = [
  ...["ID", "STATE", "TASK", "QUEUE", "PRI", "ATTEMPTS", "RUN AT", "KEY", "LAST ERROR"],
] as const;

/** Prints jobs in the form of the HTTP API's JobList. */
export function printJobsJson(jobs: readonly Job[], nextCursor: string | null): void {
  const list = jobs.map((job) => listedJobJson(job)).join(",");
  printJson(`{"jobs":[${list}],"next_cursor":${JSON.stringify(nextCursor)}}`);
}

/** Prints jobs as a table. */
export function printLightJobs(jobs: readonly LightJob[], nextCursor: string | null): void {
  printTable(
    JOB_COLUMNS,
    jobs.map((job) => [
      job.id,
      job.isPaused ? `${job.condition}, paused` : job.condition,
      job.taskIdentifier ?? "",
      job.queueName ?? "",
      String(job.priority),
      `${job.attempts}/${job.maxAttempts}`,
      time(new Date(job.runAt)),
      job.key ?? "",
      job.cancelling ?? job.errorLine ?? "",
    ]),
  );
  if (nextCursor !== null) print(`more: --cursor ${nextCursor}`);
}

/** Returns the time as RFC 3339 without milliseconds; empty for null. */
export function time(date: Date | null): string {
  return date === null ? "" : date.toISOString().replace(/\.\d+Z$/, "Z");
}
