// What of all that is known is sent to whom, and when: what has changed, and only what somebody watches.
// The pulse comes every few seconds even if nothing has changed, so that a viewer knows that it is alive.
import { monotonic } from "../../base/clock.ts";
import type { EventSource } from "../../http/events/event-source.ts";
import { countsJson, pulseJson } from "../../insight/json/counts-json.ts";
import type { QueueSnapshot } from "../../insight/known/queue-snapshot.ts";
import { overviewText } from "./overview-json.ts";

export interface Broadcast {
  show(known: QueueSnapshot): void;
  /** Shows what is watched for the first time; false where nothing is known that could be shown. */
  showNew(known: QueueSnapshot | null): boolean;
  /** What somebody else says, if it has changed. */
  say(event: string, json: string): void;
  /** Whether somebody who joins is shown it at once. */
  hasSaid(event: string): boolean;
  /** Nothing is known now, and why. */
  problem(json: string): void;
  /** Nobody watches any more: what was said is forgotten. */
  reset(): void;
}

export interface BroadcastOptions {
  readonly intervalMs: number;
  /** How often the pulse comes where nothing changes. */
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

  /** Whether it is time for an event that is larger than a pulse. */
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

/** Timers come a little early or late. */
const SLACK_MS = 50;

/** The counts without the moments at which they were read. */
function countsComparable(known: QueueSnapshot): string {
  return countsJson(known).replaceAll(/"as_of":"[^"]*"/g, "");
}
