// Answers on stdout: JSON for programs, aligned columns for people.
import { actedJobJson, type Job, listedJobJson } from "../domain/job.ts";

/**
 * Ends the process when nobody reads the answer any more (`worker list | head`), and says so when it
 * could not be written. Without a listener Node would print a stack trace.
 */
export function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.stderr.write(`worker: cannot write: ${error.message}\n`);
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
}

/** One line of text. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Rows under their column names, padded; the last column is not. */
export function printTable(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const safe = [columns, ...rows].map((row) => row.map(printable));
  const widths = columns.map((_, at) => Math.max(...safe.map((row) => row[at]?.length ?? 0)));
  for (const row of safe) {
    print(
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
        .join("  "),
    );
  }
}

// A hostile name in the database must not drive the operator's terminal.
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, " ");
}

const WIDEST_ERROR = 60;

/** Jobs as one row each, or as the admin's JSON. */
export function printJobs(
  jobs: readonly Job[],
  json: boolean,
  nextCursor: string | null = null,
): void {
  if (json) {
    const list = jobs.map(listedJobJson).join(",");
    print(`{"jobs":[${list}],"next_cursor":${JSON.stringify(nextCursor)}}`);
    return;
  }
  printTable(
    ["ID", "STATE", "TASK", "QUEUE", "PRI", "ATTEMPTS", "RUN AT", "KEY", "LAST ERROR"],
    jobs.map((job) => [
      job.id,
      job.state,
      job.taskIdentifier ?? "",
      job.queueName ?? "",
      String(job.priority),
      `${job.attempts}/${job.maxAttempts}`,
      time(job.runAt),
      job.key ?? "",
      (job.lastError ?? "").slice(0, WIDEST_ERROR),
    ]),
  );
  if (nextCursor !== null) print(`more: --cursor ${nextCursor}`);
}

/** What an action did: a sentence, and the jobs it touched. */
export function printActed(message: string, jobs: readonly Job[], json: boolean): void {
  if (!json) print(message);
  else print(`{"message":${JSON.stringify(message)},"jobs":[${jobs.map(actedJobJson).join(",")}]}`);
}

/** RFC 3339 without the milliseconds. */
export function time(date: Date | null): string {
  return date === null ? "" : date.toISOString().replace(/\.\d+Z$/, "Z");
}
