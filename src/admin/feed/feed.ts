// The feed reads the state of the whole queue. The page, the event streams and the metrics share each reading.
//
//   quiet ──a viewer, a request──▶ awake ──no viewer and no request for 60 s, or stop()──▶ quiet
//
//  1. A *viewer* is a client with an open event stream. A viewer, or a request that needs a snapshot, wakes the feed.
//     While the feed is quiet, its loop runs no statement.
//  2. A *pulse* reads the counts, the queues and the workers, every 1 or 2 s while there is a viewer
//     (insight/snapshot/sampler.ts). If a pulse can read the whole table of jobs in time, the table is *small*, and the
//     counts are exact. A table of more than 4,096 pages is always *large*.
//  3. Of a large table, a pulse usually reads only the first entries of the indexes. Between pulses, a *sample* of up
//     to 2,000 pages estimates the counts that these entries do not show, and a *census* counts all jobs by task and
//     queue, in short chunks.
//  4. *Sources* are other parts of the admin that have an event: incidents, horizon, operation. A source is read only
//     while a viewer watches the event.
//  5. The loop (rhythm.ts) runs one reading at a time. After a reading, readings of the same kind usually pause for the
//     longer of two times: an interval, and 10 or 20 times the duration of the reading (at most 15 s). After a complete
//     census, the next census waits for 60 s. After a sample, a step of the census or the reading of a source, the
//     readings of all these kinds usually pause.
//  6. An event is sent to its viewers when its content has changed (broadcast.ts). Even without a change, each viewer
//     receives a pulse or a ping about every 5 s.
//  7. If the table is small, a request waits for a new pulse, which concurrent requests share. If the table is large, a
//     request may receive a pulse that is up to 10 s old, and pulses are read for a minute after the request even
//     without a viewer.
//  8. After a write of this admin, the watched sources are read several times (AFTER_WRITE_MS). Further writes within a
//     second after that write add no readings. If a new viewer watches a source whose event has not been sent, the
//     source is read at once.
//  9. When a pulse of the loop fails, viewers receive the event `problem`. New viewers receive it, too, until a pulse
//     of the loop succeeds or no viewer is left.
import { monotonic, wait } from "../../base/clock.ts";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { createEventSource } from "../../http/events/event-source.ts";
import type { HttpRequest } from "../../http/request.ts";
import type { HttpResponse } from "../../http/response.ts";
import { LISTEN_MS } from "../../insight/snapshot/census.ts";
import { createLargestNames, type LargestNames } from "../../insight/snapshot/largest-names.ts";
import type { QueueSnapshot } from "../../insight/snapshot/queue-snapshot.ts";
import {
  createSampler,
  type Sampler,
  type SamplerOptions,
} from "../../insight/snapshot/sampler.ts";
import { createBroadcast } from "./broadcast.ts";
import { overviewText } from "./overview-json.ts";
import { createRhythm, type RhythmTask } from "./rhythm.ts";

/** The events that a viewer can request. Default: `overview`. */
export const feedEvents = [
  "overview",
  "pulse",
  "counts",
  "incidents",
  "horizon",
  "operation",
] as const;
export type FeedEvent = (typeof feedEvents)[number];

/** A source: another part of the admin that has an event. */
export interface FeedSource {
  readonly event: FeedEvent;
  /** The shortest pause between two readings, in milliseconds. A write or a new viewer can end the pause. */
  readonly intervalMs: number;
  /** Reads and returns the event's content as one line of JSON. */
  readonly read: () => Promise<string>;
}

export interface Feed {
  /**
   * Returns a snapshot. If the table is small, the snapshot includes every write that was answered before this call. If
   * the table is large, the snapshot may be up to 10 s old.
   */
  snapshot(): Promise<QueueSnapshot>;
  /** Returns the JSON of GET /api/overview, and the time of its snapshot. */
  overview(): Promise<{ readonly json: string; readonly asOf: string }>;
  /** Reads a pulse for a viewer that is about to connect, unless there is a recent pulse or another viewer. */
  prefetch(): void;
  /** Returns the response that makes the client of the request a viewer of `events` and of the event `problem`. */
  watch(request: HttpRequest, events: readonly FeedEvent[]): HttpResponse;
  /** Sends `json` to all viewers of `event`. `topic`: see event-source.ts. */
  publish(event: FeedEvent, json: string, topic?: string): void;
  isWatched(event: FeedEvent): boolean;
  /** Called when this process has changed the queue. Reads the watched sources after AFTER_WRITE_MS. */
  changed(): void;
  /** Returns the tasks and queues with the most jobs. */
  largest(snapshot: QueueSnapshot, limit: number): Promise<LargestNames>;
  readonly viewers: number;
  readonly parts: Sampler["parts"];
  stop(): Promise<void>;
}

export interface FeedOptions extends SamplerOptions {
  readonly maxViewers: number;
  readonly maxViewersPerClient: number;
  readonly logger: Logger;
  /** Called when a reading fails, with the code of the error. */
  readonly onDegraded?: (code: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly sources?: readonly FeedSource[];
  readonly intervalMs?: number;
  readonly pingMs?: number;
  readonly stalledMs?: number;
  /** How long the feed stays awake after a request, in milliseconds. Default: 60,000. */
  readonly awakeMs?: number;
}

// The sources are read several times after a write, because the first reading may return a value that was cached before
// the write.
const AFTER_WRITE_MS = [0, 300, 2_000, 5_000];
/** The age up to which a new viewer receives the last pulse instead of a new one. */
const PULSE_MS = 1_500;
/** The interval of pulses without viewers, for a large table whose counts were requested recently. */
const SLOW_PULSE_MS = 5_000;
const CENSUS_PAUSE_MS = 60_000;
/** The pause while another admin runs the census, which takes minutes. */
const OTHER_CENSUS_PAUSE_MS = 60_000;

export function createFeed(db: Database, options: FeedOptions): Feed {
  const { logger, sources = [], intervalMs = 1_000, pingMs = 5_000, stalledMs = 30_000 } = options;
  const { awakeMs = 60_000, onDegraded = () => {} } = options;
  const sampler = createSampler(db, options);
  let requestedAtMs = Number.NEGATIVE_INFINITY;
  const stopping = new AbortController();
  let changedAtMs = Number.NEGATIVE_INFINITY;

  const onViewers = (viewers: number) => {
    if (viewers === 0) broadcast.reset();
    else if (!broadcast.showNew(youngerThan(PULSE_MS))) rhythm.hurry(pulse);
    // To read a source at once for a new viewer is cheap: the source's value is often cached.
    for (const [event, task] of sourceTasks) {
      if (source.isWatched(event) && !broadcast.hasSent(event)) rhythm.hurry(task);
    }
    rhythm.wake();
  };
  const { maxViewers, maxViewersPerClient } = options;
  const source = createEventSource({ maxViewers, maxViewersPerClient, stalledMs, onViewers });
  const broadcast = createBroadcast(source, { intervalMs, tickMs: pingMs });

  const isLarge = () => sampler.last !== null && !sampler.last.isSmall;
  const isRequested = () => monotonic() - requestedAtMs < awakeMs;
  const isAwake = () => source.viewers > 0 || isRequested();
  const youngerThan = (ageMs: number) => {
    const { last } = sampler;
    return last !== null && monotonic() - last.readAtMs < ageMs ? last : null;
  };

  const report = (part: string, error: unknown) => {
    const fields = { part, error: messageOf(error) };
    logger.debug(fields, "a part of the feed could not be read");
    onDegraded(error instanceof WorkerError ? error.code : "internal_error", fields);
  };

  // Unlike the error of a pulse, these errors are not sent to viewers.
  const reportingErrors = async (part: string, work: () => Promise<number | undefined>) => {
    try {
      return await work();
    } catch (error) {
      report(part, error);
      return undefined;
    }
  };

  const pulse: RhythmTask = {
    isWanted: () => source.viewers > 0 || (isRequested() && isLarge()),
    intervalMs: () => {
      if (source.viewers === 0) return SLOW_PULSE_MS;
      return source.isWatched("pulse") ? intervalMs : 2 * intervalMs;
    },
    pauseFactor: 10,
    run: async () => {
      try {
        broadcast.show(youngerThan(intervalMs / 2) ?? (await sampler.pulse()));
      } catch (error) {
        report("pulse", error);
        broadcast.problem(problemJson(error));
      }
      return undefined;
    },
  };
  const sample: RhythmTask = {
    isWanted: () => isAwake() && isLarge(),
    intervalMs: () => (source.viewers > 0 ? 3_000 : 15_000),
    pauseFactor: 20,
    isCostly: true,
    run: () => reportingErrors("sample", () => sampler.sample().then(() => undefined)),
  };
  const census: RhythmTask = {
    isWanted: () => isAwake() && isLarge(),
    intervalMs: () => 500,
    pauseFactor: 20,
    isCostly: true,
    run: () =>
      reportingErrors("census", async () => {
        const outcome = await sampler.census();
        if (outcome === "listening") return LISTEN_MS;
        if (outcome === "left") return OTHER_CENSUS_PAUSE_MS;
        return outcome === "complete" ? CENSUS_PAUSE_MS : undefined;
      }),
  };
  const ping: RhythmTask = {
    isWanted: () => source.viewers > 0,
    intervalMs: () => pingMs,
    pauseFactor: 0,
    run: async () => {
      // Once there is a pulse, viewers of the event `pulse` need no ping, because the event is repeated.
      source.ping(sampler.last === null ? undefined : "pulse");
      return undefined;
    },
  };
  const taskOf = ({ event, intervalMs, read }: FeedSource): RhythmTask => ({
    isWanted: () => source.isWatched(event) && sampler.last !== null,
    intervalMs: () => intervalMs,
    pauseFactor: 20,
    isCostly: true,
    run: () =>
      reportingErrors(event, async () => {
        if (sampler.last !== null) broadcast.sendSource(event, await read());
        return undefined;
      }),
  });
  const sourceTasks = new Map(sources.map((one) => [one.event, taskOf(one)]));
  const rhythm = createRhythm([pulse, ping, sample, ...sourceTasks.values(), census]);

  const readSources = () => {
    for (const task of sourceTasks.values()) rhythm.hurry(task);
  };

  const snapshot = async () => {
    requestedAtMs = monotonic();
    const cached = isLarge() ? youngerThan(2 * SLOW_PULSE_MS) : null;
    const read = cached ?? (await sampler.pulse());
    if (!read.isSmall) rhythm.wake();
    return read;
  };

  return {
    snapshot,
    overview: async () => {
      const read = await snapshot();
      return { json: overviewText(read).json, asOf: read.counts.asOf };
    },
    prefetch() {
      if (source.viewers > 0 || youngerThan(PULSE_MS) !== null) return;
      // If the loop's next pulse fails, too, the viewer receives the error of that pulse.
      sampler.pulse().catch(() => {});
    },
    watch: (request, events) => source.view(request, [...events, "problem"]),
    publish: (event, json, topic) => source.publish(event, json, topic),
    isWatched: (event) => source.isWatched(event),
    changed() {
      if (monotonic() - changedAtMs < intervalMs) return;
      changedAtMs = monotonic();
      for (const afterMs of AFTER_WRITE_MS) void wait(afterMs, stopping.signal).then(readSources);
    },
    get viewers() {
      return source.viewers;
    },
    largest: createLargestNames(db),
    parts: sampler.parts,
    stop: () => {
      stopping.abort();
      return rhythm.stop();
    },
  };
}

function problemJson(error: unknown): string {
  const hasMessage = error instanceof WorkerError && error.code !== "database_error";
  const problem = hasMessage
    ? { error: error.message, code: error.code }
    : { error: "the overview cannot be read now; the log has the details", code: "internal_error" };
  return JSON.stringify(problem);
}
