// Reads the events of a process. The process writes each event to stdout, as a line of JSON with the event's name in
// `event`. A test can read all events so far, and can wait for an event.
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

export interface ProcessEvent {
  readonly event: string;
  readonly [name: string]: unknown;
}

export interface ProcessEvents {
  /** All events so far. */
  readonly events: readonly ProcessEvent[];
  /**
   * Resolves to the first matching event, which may have happened before the call. Rejects if stdout closes before such
   * an event, or after MAX_WAIT_MS.
   */
  event(name: string, fits?: (event: ProcessEvent) => boolean): Promise<ProcessEvent>;
}

// How long a test waits for an event. It is this long because a busy machine delays heartbeats, and a worker whose own
// heartbeats were late recovers no jobs of other workers for a while (src/worker/lease/recovery.ts).
export const MAX_WAIT_MS = 90_000;

export function processEvents(
  { stdout }: ChildProcess & { readonly stdout: Readable },
  onEvent: (event: ProcessEvent) => void = () => {},
): ProcessEvents {
  const events: ProcessEvent[] = [];
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  let isOver = false;
  createInterface({ input: stdout })
    .on("line", (line) => {
      const event = JSON.parse(line) as ProcessEvent;
      events.push(event);
      onEvent(event);
      notify();
    })
    .on("close", () => {
      isOver = true;
      notify();
    });
  const event = (name: string, fits: (event: ProcessEvent) => boolean = () => true) =>
    new Promise<ProcessEvent>((resolve, reject) => {
      const end = (found: ProcessEvent | undefined) => {
        listeners.delete(look);
        clearTimeout(late);
        if (found !== undefined) resolve(found);
        else
          reject(new Error(`no matching event "${name}" among ${JSON.stringify(events, null, 1)}`));
      };
      const look = () => {
        const found = events.find((one) => one.event === name && fits(one));
        if (found !== undefined || isOver) end(found);
      };
      const late = setTimeout(() => end(undefined), MAX_WAIT_MS);
      listeners.add(look);
      look();
    });
  return { events, event };
}
