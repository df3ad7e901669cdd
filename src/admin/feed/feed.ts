// The feed: what this process knows about the whole queue, read once for the page, the event streams and
// the metrics.
//
//   quiet ──a viewer, a request──▶ awake ──no viewer, no request for 60 s, or stop()──▶ quiet
//
//  1. While the feed is quiet, no statement runs. A viewer or a request wakes it.
//  2. A *pulse* reads the counts, the queues and the workers, every 1 or 2 s while there is a viewer
//     (insight/known/sampler.ts). A table of up to 4,096 pages is read whole, so its counts are exact.
//  3. Of a larger table a pulse reads the heads of the indexes. In between a *sample* of 2,000 pages
//     estimates the rest, and a *census* counts all jobs by task and queue, in short chunks.
//  4. *Sources* are other parts of the admin that have an event: incidents, horizon, operation. Each is
//     read only while its event is watched.
//  5. All of that is read one after another, and each rests 10 or 20 times as long as it took. The costly
//     ones together take at most a twelfth of the time (rhythm.ts).
//  6. An event is sent when its content has changed, the same bytes to all viewers (broadcast.ts). A sign
//     of life is sent every 5 s in any case.
//  7. A request reads a pulse of its own on a small table. On a large one it takes one up to 10 s old.
//  8. After a write the sources are read at once, and after 0.3, 2 and 5 s.
//  9. When a pulse fails, the viewers are sent `problem` in place of numbers.
import { monotonic, wait } from "../../base/clock.ts";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { createEventSource } from "../../http/events/event-source.ts";
import type { HttpRequest } from "../../http/request.ts";
import type { HttpResponse } from "../../http/response.ts";
import { LISTEN_MS } from "../../insight/known/census.ts";
import { createLargestNames, type LargestNames } from "../../insight/known/largest-names.ts";
import type { QueueSnapshot } from "../../insight/known/queue-snapshot.ts";
import { createSampler, type Sampler, type SamplerOptions } from "../../insight/known/sampler.ts";
import { createBroadcast } from "./broadcast.ts";
import { overviewText } from "./overview-json.ts";
import { createRhythm, type RhythmTask } from "./rhythm.ts";

/** What a viewer may ask for; without asking it is shown `overview`. */
export const feedEvents = [
  "overview",
  "pulse",
  "counts",
  "incidents",
  "horizon",
  "operation",
] as const;
export type FeedEvent = (typeof feedEvents)[number];

/** An event that somebody else has to say, read while it is watched. */
export interface FeedSource {
  readonly event: FeedEvent;
  /** The shortest time between two readings; they rest twenty times as long as they took. */
  readonly intervalMs: number;
  /** One line of JSON; sent when it has changed. */
  readonly read: () => Promise<string>;
}

export interface Feed {
  /**
   * What is known now. Of a small table all of it was read after this call, so a write that was answered
   * before is in it; of a large one it may be a few seconds old.
   */
  known(): Promise<QueueSnapshot>;
  /** The JSON of GET /api/overview, and its moment. */
  overview(): Promise<{ readonly json: string; readonly asOf: string }>;
  /** Somebody will watch in a moment: what he is shown first is read already. */
  expect(): void;
  /** The answer that makes the request a viewer. */
  watch(request: HttpRequest, events: readonly FeedEvent[]): HttpResponse;
  /** Tells everybody who watches `event`; `topic` as for the event source. */
  publish(event: FeedEvent, json: string, topic?: string): void;
  isWatched(event: FeedEvent): boolean;
  /** Somebody has written: what the sources say is asked for at once, and a little later. */
  changed(): void;
  /** The tasks and queues with the most jobs. */
  largest(known: QueueSnapshot, limit: number): Promise<LargestNames>;
  readonly viewers: number;
  readonly parts: Sampler["parts"];
  stop(): Promise<void>;
}

export interface FeedOptions extends SamplerOptions {
  readonly maxViewers: number;
  readonly maxViewersPerClient: number;
  readonly logger: Logger;
  /** Told of what could not be read for the viewers, with its code. */
  readonly onDegraded?: (code: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly sources?: readonly FeedSource[];
  readonly intervalMs?: number;
  readonly pingMs?: number;
  readonly patienceMs?: number;
  /** Who asked is taken to ask again for so long. */
  readonly askedMs?: number;
}

/** After a write the sources are asked at once, and again when what they had just read has rested: cached.ts. */
const HURRIED_MS = [0, 300, 2_000, 5_000];
/** A pulse that is not older counts as of now. */
const PULSE_MS = 1_500;
/** While somebody asks about a large table now and then, the pulse goes on, slowly. */
const SLOW_PULSE_MS = 5_000;
const CENSUS_PAUSE_MS = 60_000;
/** Another admin is counting: its round takes minutes, and goes on alone meanwhile. */
const LEFT_PAUSE_MS = 60_000;

export function createFeed(db: Database, options: FeedOptions): Feed {
  const { logger, sources = [], intervalMs = 1_000, pingMs = 5_000, patienceMs = 30_000 } = options;
  const { askedMs = 60_000, onDegraded = () => {} } = options;
  const sampler = createSampler(db, options);
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const stopping = new AbortController();
  let hurriedAtMs = Number.NEGATIVE_INFINITY;

  const onViewers = (viewers: number) => {
    if (viewers === 0) broadcast.reset();
    else if (!broadcast.showNew(youngerThan(PULSE_MS))) rhythm.hurry(pulse);
    // Whoever comes back does not wait for the next round: what is rested is answered from memory.
    for (const [event, beat] of ofSources) {
      if (source.isWatched(event) && !broadcast.hasSaid(event)) rhythm.hurry(beat);
    }
    rhythm.wake();
  };
  const { maxViewers, maxViewersPerClient } = options;
  const source = createEventSource({ maxViewers, maxViewersPerClient, patienceMs, onViewers });
  const broadcast = createBroadcast(source, { intervalMs, tickMs: pingMs });

  const isLarge = () => sampler.last !== null && !sampler.last.isSmall;
  const isAsked = () => monotonic() - askedAtMs < askedMs;
  const isAwake = () => source.viewers > 0 || isAsked();
  const youngerThan = (ageMs: number) => {
    const { last } = sampler;
    return last !== null && monotonic() - last.readAtMs < ageMs ? last : null;
  };

  const tell = (part: string, error: unknown) => {
    const fields = { part, error: messageOf(error) };
    logger.debug(fields, "a part of the feed could not be read");
    onDegraded(error instanceof WorkerError ? error.code : "internal_error", fields);
  };

  /** What fails in the background is tried again; the pulse tells the viewers. */
  const quietly = async (part: string, work: () => Promise<number | undefined>) => {
    try {
      return await work();
    } catch (error) {
      tell(part, error);
      return undefined;
    }
  };

  const pulse: RhythmTask = {
    isWanted: () => source.viewers > 0 || (isAsked() && isLarge()),
    intervalMs: () => {
      if (source.viewers === 0) return SLOW_PULSE_MS;
      return source.isWatched("pulse") ? intervalMs : 2 * intervalMs;
    },
    restFactor: 10,
    run: async () => {
      try {
        broadcast.show(await sampler.pulse());
      } catch (error) {
        tell("pulse", error);
        broadcast.problem(problemJson(error));
      }
      return undefined;
    },
  };
  const sample: RhythmTask = {
    isWanted: () => isAwake() && isLarge(),
    intervalMs: () => (source.viewers > 0 ? 3_000 : 15_000),
    restFactor: 20,
    isCostly: true,
    run: () => quietly("sample", () => sampler.sample().then(() => undefined)),
  };
  const census: RhythmTask = {
    isWanted: () => isAwake() && isLarge(),
    intervalMs: () => 500,
    restFactor: 20,
    isCostly: true,
    run: () =>
      quietly("census", async () => {
        const outcome = await sampler.census();
        if (outcome === "listening") return LISTEN_MS;
        if (outcome === "left") return LEFT_PAUSE_MS;
        return outcome === "complete" ? CENSUS_PAUSE_MS : undefined;
      }),
  };
  const ping: RhythmTask = {
    isWanted: () => source.viewers > 0,
    intervalMs: () => pingMs,
    restFactor: 0,
    run: async () => {
      // Who watches the pulse has a sign of life in it, as long as there is one.
      source.ping(sampler.last === null ? undefined : "pulse");
      return undefined;
    },
  };
  const beatOf = ({ event, intervalMs, read }: FeedSource): RhythmTask => ({
    isWanted: () => source.isWatched(event) && sampler.last !== null,
    intervalMs: () => intervalMs,
    restFactor: 20,
    isCostly: true,
    run: () =>
      quietly(event, async () => {
        if (sampler.last !== null) broadcast.say(event, await read());
        return undefined;
      }),
  });
  const ofSources = new Map(sources.map((one) => [one.event, beatOf(one)]));
  const rhythm = createRhythm([pulse, ping, sample, ...ofSources.values(), census]);

  const hurry = () => {
    for (const beat of ofSources.values()) rhythm.hurry(beat);
  };

  const known = async () => {
    askedAtMs = monotonic();
    const kept = isLarge() ? youngerThan(2 * SLOW_PULSE_MS) : null;
    const answer = kept ?? (await sampler.pulse());
    if (!answer.isSmall) rhythm.wake();
    return answer;
  };

  return {
    known,
    overview: async () => {
      const read = await known();
      return { json: overviewText(read).json, asOf: read.counts.asOf };
    },
    expect() {
      if (source.viewers > 0 || youngerThan(PULSE_MS) !== null) return;
      // Whoever comes is told what is wrong.
      sampler.pulse().catch(() => {});
    },
    watch: (request, events) => source.view(request, [...events, "problem"]),
    publish: (event, json, topic) => source.publish(event, json, topic),
    isWatched: (event) => source.isWatched(event),
    changed() {
      if (monotonic() - hurriedAtMs < intervalMs) return;
      hurriedAtMs = monotonic();
      for (const afterMs of HURRIED_MS) void wait(afterMs, stopping.signal).then(hurry);
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
  const isKnown = error instanceof WorkerError && error.code !== "database_error";
  const problem = isKnown
    ? { error: error.message, code: error.code }
    : { error: "the overview cannot be read now; the log has the details", code: "internal_error" };
  return JSON.stringify(problem);
}
