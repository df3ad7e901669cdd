// Decides which events are sent, and when: those that are watched and have changed. The pulse is repeated
// every few seconds without a change, as a sign of life.
import { monotonic } from "../../base/clock.ts";
import type { EventSource } from "../../http/events/event-source.ts";
import { countsJson, pulseJson } from "../../insight/json/counts-json.ts";
import type { QueueSnapshot } from "../../insight/known/queue-snapshot.ts";
import { overviewText } from "./overview-json.ts";

export interface Broadcast {
  /** Sends what has changed. */
  show(known: QueueSnapshot): void;
  /** Sends the events that have just begun to be watched; false when there is no snapshot for them. */
  showNew(known: QueueSnapshot | null): boolean;
  /** Sends the event of a source, if it has changed. */
  say(event: string, json: string): void;
  /** Whether the event has been sent, so that a new viewer receives it at once. */
  hasSaid(event: string): boolean;
  /** Sends why nothing can be read, in place of numbers. */
  problem(json: string): void;
  /** Discards what was sent, after the last viewer has left. */
  reset(): void;
}

export interface BroadcastOptions {
  readonly intervalMs: number;
  /** How often the pulse is repeated without a change. */
  readonly tickMs: number;
}

interface Said {
  readonly comparable: string;
  readonly atMs: number;
}

export function createBroadcast(source: EventSource, options: BroadcastOptions): Broadcast {
  const { intervalMs, tickMs } = options;
  const said = new Map<string, Said>();

  const send = (event: string, comparable: string, json: string, repeatMs = Infinity) => {
    const before = said.get(event);
    const isNews = before?.comparable !== comparable;
    if (!isNews && monotonic() - before.atMs < repeatMs) return;
    said.set(event, { comparable, atMs: monotonic() });
    source.publish(event, json);
  };

  /** Whether an event that is larger than a pulse is due. */
  const isTimeFor = (event: string) => {
    const before = said.get(event);
    return before === undefined || monotonic() - before.atMs >= 2 * intervalMs - SLACK_MS;
  };

  const events: Readonly<Record<string, (known: QueueSnapshot) => void>> = {
    pulse: (known) => {
      const { comparable, json } = pulseJson(known);
      send("pulse", comparable, json, tickMs - SLACK_MS);
    },
    counts: (known) => {
      if (isTimeFor("counts")) send("counts", countsComparable(known), countsJson(known));
    },
    overview: (known) => {
      if (!isTimeFor("overview")) return;
      const { comparable, json } = overviewText(known);
      send("overview", comparable, json);
    },
  };

  const forget = (event: string) => {
    said.delete(event);
    source.forget(event);
  };

  return {
    show(known) {
      forget("problem");
      for (const event of [...said.keys()]) if (!source.isWatched(event)) forget(event);
      for (const [event, tell] of Object.entries(events)) if (source.isWatched(event)) tell(known);
    },
    showNew(known) {
      const isNew = (event: string) => source.isWatched(event) && !said.has(event);
      const missing = Object.entries(events).filter(([event]) => isNew(event));
      if (missing.length === 0 || said.has("problem")) return true;
      if (known === null) return false;
      for (const [, tell] of missing) tell(known);
      return true;
    },
    say: (event, json) => send(event, json, json),
    hasSaid: (event) => said.has(event),
    problem(json) {
      for (const event of Object.keys(events)) forget(event);
      send("problem", json, json);
    },
    reset() {
      for (const event of [...said.keys()]) forget(event);
    },
  };
}

/** Timers fire a little early or late. */
const SLACK_MS = 50;

/** Returns the counts without the moments at which they were read. */
function countsComparable(known: QueueSnapshot): string {
  return countsJson(known).replaceAll(/"as_of":"[^"]*"/g, "");
}
