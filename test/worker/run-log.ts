// What really happened, written line by line into one file by every process that adds or runs jobs.
// A line is in the file when the call returns, so it survives the kill -9 of its writer.
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** One thing that happened; `n` names what was added, times are of one clock for all processes. */
export type Entry =
  /** The database acknowledged an add. */
  | { e: "added"; n: string; job: string; queue?: string; key?: string; max?: number; batch?: true }
  | { e: "start"; run: string; n: string; job: string; by: string; attempt: number; t: number }
  | { e: "end"; run: string; ok: boolean; t: number }
  /** One item of a batch succeeded. */
  | { e: "item"; n: string; job: string }
  /** A process died: what it ran has ended. */
  | { e: "dead"; by: string; t: number };

export class RunLog {
  readonly path: string;
  readonly #file: number;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "a");
  }

  write(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  read(): Entry[] {
    const lines = readFileSync(this.path, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Entry);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Milliseconds by the machine's monotonic clock, the same in every process. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

let runs = 0;

/** A name for one run, different from those of all other processes. */
export function runName(): string {
  return `${process.pid}-${runs++}`;
}
