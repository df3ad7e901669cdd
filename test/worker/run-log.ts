// The log of a trial or of a test of faults: one file, to which every process that adds or runs jobs appends lines.
// Writes are synchronous, so a written line survives a kill -9 of its process.
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";

/**
 * An entry of the log. `n`: the name of a job or of an item of a batch; in the `start` of a batch, `batch <id>`. `by`:
 * the worker. `t`: see machineTime().
 */
export type Entry =
  | { e: "added"; n: string; job: string; queue?: string; key?: string; max?: number; batch?: true }
  /** An add has failed, but may have been committed. */
  | { e: "maybe"; n: string; key?: string }
  | { e: "start"; run: string; n: string; job: string; by: string; attempt: number; t: number }
  | { e: "end"; run: string; ok: boolean; t: number }
  | { e: "aborted"; run: string; t: number }
  /** One item of a batch succeeded. */
  | { e: "item"; n: string; job: string }
  /** A process died. `n`: the job that killed the process; missing if no job killed it. */
  | { e: "dead"; by: string; t: number; n?: string }
  /** Connections were lost, or a process got no CPU time. `by`: the affected worker; missing if all are affected. */
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

  /** Records a fault with the current time. */
  fault(by?: string): void {
    this.write({ e: "fault", ...(by === undefined ? {} : { by }), t: machineTime() });
  }

  /** Returns all complete entries so far. */
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

/** The time of the machine's monotonic clock, which all processes share, in milliseconds. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

let runs = 0;

/** Returns a unique name for one run of a job. */
export function runName(): string {
  return `${process.pid}-${runs++}`;
}
