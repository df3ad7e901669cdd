// The overview for those who ask and those who watch. While somebody watches, a loop reads it every
// 2 s (less often when reading takes long), once for all viewers, and sends it when it has changed;
// with nobody watching nothing runs.
//
//   quiet ──first viewer──▶ watching ──last viewer leaves, or stop()──▶ quiet
import { monotonic, wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import type { HttpRequest } from "../../http/request.ts";
import type { HttpResponse } from "../../http/response.ts";
import { createEventSource, eventText } from "../../http/sse.ts";
import { type OverviewText, overviewJson, readOverview } from "./overview.ts";
import { singleFlight } from "./single-flight.ts";

export interface OverviewFeed {
  /** The overview as it is now. */
  read(): Promise<string>;
  /** The answer that makes the request a viewer. */
  watch(request: HttpRequest): HttpResponse;
  readonly viewers: number;
}

export interface OverviewFeedOptions {
  readonly maxViewers: number;
  readonly maxPerClient?: number;
  readonly intervalMs?: number;
  readonly pingMs?: number;
  readonly patienceMs?: number;
}

// Watching a very large queue must not become a load on it.
const REST_FACTOR = 10;

export function createOverviewFeed(db: Database, options: OverviewFeedOptions): OverviewFeed {
  const { maxViewers, maxPerClient = maxViewers } = options;
  const { intervalMs = 2_000, pingMs = 15_000, patienceMs = 10_000 } = options;
  const read = singleFlight(() => readOverview(db));
  let watching: AbortController | null = null;
  /** What every viewer has been shown last; null when nothing current is known. */
  let shown: string | null = null;

  const onViewers = (viewers: number) => {
    if (viewers === 0) {
      watching?.abort();
      watching = null;
      shown = null;
    } else if (watching === null) {
      watching = new AbortController();
      void watch(watching.signal);
    }
  };
  const source = createEventSource({ maxViewers, maxPerClient, patienceMs, onViewers });

  /** Never rejects: a failed read is an event like any other. */
  const watch = async (signal: AbortSignal) => {
    let sent = "";
    let pinged = monotonic();
    let restMs: number;
    do {
      const began = monotonic();
      const event = await nextEvent();
      if (signal.aborted) return;
      if (event.comparable !== sent) {
        sent = event.comparable;
        shown = event.text;
        source.send(event.text);
      }
      if (monotonic() - pinged >= pingMs) {
        pinged = monotonic();
        source.ping();
      }
      const tookMs = monotonic() - began;
      restMs = Math.max(intervalMs, Math.min(tookMs * REST_FACTOR, pingMs));
    } while (await wait(restMs, signal));
  };

  const nextEvent = async () => {
    try {
      const overview = await read();
      return { comparable: overview.members, text: overviewEvent(overview) };
    } catch (error) {
      const text = problemEvent(error);
      return { comparable: text, text };
    }
  };

  return {
    read: async () => overviewJson(await read()),
    watch: (request) => source.view(request, () => shown),
    get viewers() {
      return source.viewers;
    },
  };
}

function overviewEvent(overview: OverviewText): string {
  return eventText("overview", overviewJson(overview));
}

function problemEvent(error: unknown): string {
  const isKnown = error instanceof WorkerError && error.code !== "database_error";
  const problem = isKnown
    ? { error: error.message, code: error.code }
    : { error: "the overview cannot be read now; the log has the details", code: "internal_error" };
  return eventText("problem", JSON.stringify(problem));
}
