// A process that says what happens as lines of JSON on stdout, each with its `event`: all that it has
// said, and a way to wait for one.
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

export interface ProcessEvent {
  readonly event: string;
  readonly [name: string]: unknown;
}

export interface ProcessEvents {
  /** All that it has said so far. */
  readonly events: readonly ProcessEvent[];
  /** The first event that fits, past or to come; fails when the process ends without it. */
  event(name: string, fits?: (event: ProcessEvent) => boolean): Promise<ProcessEvent>;
}

// A busy machine delays heartbeats, and who has seen gaps judges nobody for a while.
export const LONGEST_WAIT_MS = 90_000;

export function processEvents(
  { stdout }: ChildProcess & { readonly stdout: Readable },
  onEvent: (event: ProcessEvent) => void = () => {},
): ProcessEvents {
  const events: ProcessEvent[] = [];
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  let isOver = false;
  createInterface({ input: stdout })
    .on("line", (line) => {
      const event = JSON.parse(line) as ProcessEvent;
      events.push(event);
      onEvent(event);
      tell();
    })
    .on("close", () => {
      isOver = true;
      tell();
    });
  const event = (name: string, fits: (event: ProcessEvent) => boolean = () => true) =>
    new Promise<ProcessEvent>((resolve, reject) => {
      const end = (found: ProcessEvent | undefined) => {
        listeners.delete(look);
        clearTimeout(late);
        if (found !== undefined) resolve(found);
        else reject(new Error(`no "${name}" among ${JSON.stringify(events, null, 1)}`));
      };
      const look = () => {
        const found = events.find((one) => one.event === name && fits(one));
        if (found !== undefined || isOver) end(found);
      };
      const late = setTimeout(() => end(undefined), LONGEST_WAIT_MS);
      listeners.add(look);
      look();
    });
  return { events, event };
}
