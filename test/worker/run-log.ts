// What really happened, written line by line into one file by every process that adds or runs jobs.
// A line is in the file when the call returns, so it survives the kill -9 of its writer.
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";

/** One thing that happened; `n` names what was added, times are of one clock for all processes. */
export type Entry =
  /** The database acknowledged an add. */
  | { e: "added"; n: string; job: string; queue?: string; key?: string; max?: number; batch?: true }
  /** An add was rejected; it may have happened all the same. */
  | { e: "maybe"; n: string; key?: string }
  | { e: "start"; run: string; n: string; job: string; by: string; attempt: number; t: number }
  | { e: "end"; run: string; ok: boolean; t: number }
  /** One item of a batch succeeded. */
  | { e: "item"; n: string; job: string }
  /** A process died: what it ran has ended. `n`: the job that killed it. */
  | { e: "dead"; by: string; t: number; n?: string }
  /** Something happened to the connections or to the time of one process, or of all. */
  | { e: "fault"; by?: string; t: number };

export class RunLog {
  readonly path: string;
  readonly #file: number;
  readonly #entries: Entry[] = [];
  #readBytes = 0;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "a");
  }

  write(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  /** From now on, until it is found out, results of this process, or of all, may be lost. */
  fault(by?: string): void {
    this.write({ e: "fault", ...(by === undefined ? {} : { by }), t: machineTime() });
  }

  /** All so far, also after the end; what was read before is not parsed again. */
  read(): readonly Entry[] {
    if (statSync(this.path).size === this.#readBytes) return this.#entries;
    const bytes = readFileSync(this.path);
    const end = bytes.lastIndexOf(10) + 1;
    const lines = bytes.toString("utf8", this.#readBytes, end).split("\n");
    for (const line of lines) if (line !== "") this.#entries.push(JSON.parse(line) as Entry);
    this.#readBytes = end;
    return this.#entries;
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
