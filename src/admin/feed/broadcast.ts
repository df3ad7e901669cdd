// Sends the events of the feed to its viewers (clients with an open event stream) when the content of an event has
// changed. The event `pulse` (the main counts) is also repeated every few seconds without a change, so that viewers
// notice a lost connection. Until an event is deleted, new viewers receive its last content.
import { monotonic } from "../../base/clock.ts";
import type { EventSource } from "../../http/events/event-source.ts";
import { countsJson, pulseJson } from "../../insight/json/counts-json.ts";
import type { QueueSnapshot } from "../../insight/snapshot/queue-snapshot.ts";
import { overviewText } from "./overview-json.ts";

export interface Broadcast {
  /**
   * Deletes the event `problem` and all unwatched events. Then sends the watched events of this snapshot that have
   * changed, but `counts` and `overview` at most once in two intervals.
   */
  show(snapshot: QueueSnapshot): void;
  /**
   * Sends the watched events of the snapshot that have not been sent. Sends nothing while hasSent("problem"). Returns
   * false if there are events to send, but `snapshot` is null.
   */
  showNew(snapshot: QueueSnapshot | null): boolean;
  /** Sends the event of a FeedSource (feed.ts), if its content has changed. */
  sendSource(event: string, json: string): void;
  /** Whether the event was sent and has not been deleted since. */
  hasSent(event: string): boolean;
  /** Replaces all events by `problem`, the error of a failed pulse. Does nothing if `json` has not changed. */
  problem(json: string): void;
  /** Deletes all events that were sent. */
  reset(): void;
}

export interface BroadcastOptions {
  readonly intervalMs: number;
  /** The time after which the event `pulse` is sent again without a change, in milliseconds. */
  readonly tickMs: number;
}

interface SentEvent {
  readonly comparable: string;
  readonly atMs: number;
}

export function createBroadcast(source: EventSource, options: BroadcastOptions): Broadcast {
  const { intervalMs, tickMs } = options;
  const sent = new Map<string, SentEvent>();

  const send = (event: string, comparable: string, json: string, repeatMs = Infinity) => {
    const before = sent.get(event);
    const isChanged = before?.comparable !== comparable;
    if (!isChanged && monotonic() - before.atMs < repeatMs) return;
    sent.set(event, { comparable, atMs: monotonic() });
    source.publish(event, json);
  };

  // `counts` and `overview` are large, so they are sent less often.
  const isTimeFor = (event: string) => {
    const before = sent.get(event);
    return before === undefined || monotonic() - before.atMs >= 2 * intervalMs - SLACK_MS;
  };

  const events: Readonly<Record<string, (snapshot: QueueSnapshot) => void>> = {
    pulse: (snapshot) => {
      const { comparable, json } = pulseJson(snapshot);
      send("pulse", comparable, json, tickMs - SLACK_MS);
    },
    counts: (snapshot) => {
      if (isTimeFor("counts")) send("counts", countsComparable(snapshot), countsJson(snapshot));
    },
    overview: (snapshot) => {
      if (!isTimeFor("overview")) return;
      const { comparable, json } = overviewText(snapshot);
      send("overview", comparable, json);
    },
  };

  const clear = (event: string) => {
    sent.delete(event);
    source.clear(event);
  };

  const reset = () => {
    for (const event of [...sent.keys()]) clear(event);
  };

  return {
    show(snapshot) {
      clear("problem");
      for (const event of [...sent.keys()]) if (!source.isWatched(event)) clear(event);
      for (const [event, sendEvent] of Object.entries(events))
        if (source.isWatched(event)) sendEvent(snapshot);
    },
    showNew(snapshot) {
      const isNew = (event: string) => source.isWatched(event) && !sent.has(event);
      const missing = Object.entries(events).filter(([event]) => isNew(event));
      if (missing.length === 0 || sent.has("problem")) return true;
      if (snapshot === null) return false;
      for (const [, sendEvent] of missing) sendEvent(snapshot);
      return true;
    },
    sendSource: (event, json) => send(event, json, json),
    hasSent: (event) => sent.has(event),
    problem(json) {
      if (sent.get("problem")?.comparable === json) return;
      // The page shows the problem until it receives `pulse` or `counts`. After reset(), these two events are sent
      // again even with the same content.
      reset();
      send("problem", json, json);
    },
    reset,
  };
}

/** A tolerance, because timers fire a little early or late. */
const SLACK_MS = 50;

/** Returns the counts without the times at which they were read. */
function countsComparable(snapshot: QueueSnapshot): string {
  return countsJson(snapshot).replaceAll(/"as_of":"[^"]*"/g, "");
}
