// Sends server-sent events to viewers: clients with an open event stream. An event contains the snapshot of a topic.
// The topic is usually the event's name; an event can also have several topics. While a viewer's buffer is full, its
// snapshots wait, and a newer snapshot replaces a waiting snapshot of the same topic. So the memory of each viewer is
// bounded.
import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { monotonic } from "../../base/clock.ts";
import { networkOf } from "../bounds/client-address.ts";
import { Refusal, stopping } from "../refusal.ts";
import { type HttpRequest, header } from "../request.ts";
import type { HttpResponse } from "../response.ts";
import { EventBytes, encoderFor, type StreamEncoder } from "./event-bytes.ts";

export interface EventSource {
  /**
   * Returns the response that makes the client a viewer of these events. The response begins with the snapshots that
   * are newer than the request's Last-Event-ID. Throws Refusal 503 if there are too many viewers, or if the server
   * is stopping.
   */
  view(request: HttpRequest, events: readonly string[]): HttpResponse;
  /**
   * Sends `data`, a single line, to all viewers of `event`. Stores `data` as the new snapshot of `topic`. Default of
   * `topic`: the name of the event.
   */
  publish(event: string, data: string, topic?: string): void;
  /** Deletes the event's snapshots. */
  clear(event: string): void;
  /**
   * Sends a comment to viewers, except to the viewers of the event `except`. The comment keeps proxies from closing a
   * stream without events as idle.
   */
  ping(except?: string): void;
  isWatched(event: string): boolean;
  readonly viewers: number;
}

export interface EventSourceOptions {
  readonly maxViewers: number;
  /** The maximum number of viewers of one client: an IPv4 address, or an IPv6 /64 network. */
  readonly maxViewersPerClient: number;
  /** How long a viewer's buffer may be full before the viewer is disconnected, in milliseconds. */
  readonly stalledMs: number;
  /** Called after each change of the number of viewers. */
  readonly onViewers: (viewers: number) => void;
}

interface Viewer {
  readonly connection: Writable;
  readonly encoder: StreamEncoder;
  readonly events: ReadonlySet<string>;
  /** When the buffer became full, by the monotonic clock; null: the buffer has room. */
  fullSince: number | null;
  /**
   * The topics whose newest snapshot waits for room, in the order of the snapshots' ids: a viewer that reconnects gets
   * only snapshots with later ids than the last received id.
   */
  readonly waiting: Set<string>;
}

interface Snapshot {
  readonly event: string;
  readonly number: number;
  readonly bytes: EventBytes;
}

const newPing = () => new EventBytes(": ping\n\n");
/** The maximum number of topics of one event. */
const MAX_TOPICS = 100;

export function createEventSource(options: EventSourceOptions): EventSource {
  // Every id contains this random text, so that ids from other event sources, such as an earlier process, are ignored.
  const source = randomBytes(6).toString("base64url");
  const viewers = new Set<Viewer>();
  const perClient = new Map<string, number>();
  const watched = new Map<string, number>();
  const snapshots = new Map<string, Snapshot>();
  let last = 0;

  const give = (viewer: Viewer, bytes: EventBytes) => {
    if (!viewer.connection.write(viewer.encoder.encode(bytes))) viewer.fullSince = monotonic();
  };

  /** Also disconnects a viewer whose buffer has been full for `stalledMs`. */
  const hasRoom = ({ fullSince, connection }: Viewer) => {
    if (fullSince === null) return true;
    if (monotonic() - fullSince > options.stalledMs) connection.destroy();
    return false;
  };

  const drain = (viewer: Viewer) => {
    viewer.fullSince = null;
    for (const topic of viewer.waiting) {
      if (viewer.fullSince !== null) return;
      viewer.waiting.delete(topic);
      const snapshot = snapshots.get(topic);
      if (snapshot !== undefined) give(viewer, snapshot.bytes);
    }
  };

  /** Sends the viewer's snapshots with a number above `seen`; if there are none, a ping. */
  const greet = (viewer: Viewer, seen: number) => {
    let isGreeted = false;
    for (const [topic, { event, number, bytes }] of snapshots) {
      if (!viewer.events.has(event) || number <= seen) continue;
      if (viewer.fullSince === null) give(viewer, bytes);
      else viewer.waiting.add(topic);
      isGreeted = true;
    }
    if (!isGreeted) give(viewer, newPing());
  };

  const join = (request: HttpRequest, connection: Writable, names: readonly string[]) => {
    const { closing } = request;
    const client = networkOf(request.client);
    if (isFull(client) || closing.aborted) {
      connection.end(encoderFor(request).end());
      return;
    }
    const viewer: Viewer = {
      connection,
      encoder: encoderFor(request),
      events: new Set(names),
      fullSince: null,
      waiting: new Set(),
    };
    const leave = () => {
      closing.removeEventListener("abort", end);
      if (!viewers.delete(viewer)) return;
      add(perClient, client, -1);
      for (const event of viewer.events) add(watched, event, -1);
      options.onViewers(viewers.size);
    };
    const end = () => {
      leave();
      connection.end(viewer.encoder.end());
    };
    connection.on("drain", () => drain(viewer));
    connection.once("close", leave);
    closing.addEventListener("abort", end, { once: true });
    viewers.add(viewer);
    add(perClient, client, 1);
    for (const event of viewer.events) add(watched, event, 1);
    greet(viewer, seenBy(request, source));
    options.onViewers(viewers.size);
  };

  const isFull = (client: string) =>
    viewers.size >= options.maxViewers ||
    (perClient.get(client) ?? 0) >= options.maxViewersPerClient;

  return {
    view(request, names) {
      if (request.closing.aborted) throw stopping;
      if (isFull(networkOf(request.client))) {
        throw new Refusal(503, "busy", "too many event streams are open; close one and try again", {
          headers: { "retry-after": "10" },
        });
      }
      return {
        status: 200,
        headers: {
          "content-type": "text/event-stream; charset=utf-8",
          // Without this header nginx would buffer the events.
          "x-accel-buffering": "no",
          vary: "accept-encoding",
          ...encoderFor(request).headers,
        },
        body: (connection) => join(request, connection, names),
        endsWithConnection: true,
      };
    },
    publish(event, data, topic = event) {
      const number = ++last;
      const bytes = new EventBytes(`id: ${source}-${number}\nevent: ${event}\ndata: ${data}\n\n`);
      // Deleted first, so that the topics stay in the order of their last change.
      snapshots.delete(topic);
      snapshots.set(topic, { event, number, bytes });
      if (topic !== event) makeRoom(snapshots, event);
      for (const viewer of viewers) {
        if (!viewer.events.has(event)) continue;
        viewer.waiting.delete(topic);
        if (hasRoom(viewer)) give(viewer, bytes);
        else viewer.waiting.add(topic);
      }
    },
    clear(event) {
      for (const [topic, snapshot] of snapshots) {
        if (snapshot.event === event) snapshots.delete(topic);
      }
    },
    ping(except) {
      const bytes = newPing();
      for (const viewer of viewers) {
        if (except !== undefined && viewer.events.has(except)) continue;
        if (hasRoom(viewer)) give(viewer, bytes);
      }
    },
    isWatched: (event) => watched.has(event),
    get viewers() {
      return viewers.size;
    },
  };
}

function makeRoom(snapshots: Map<string, Snapshot>, event: string): void {
  const topics = [...snapshots].filter(([, snapshot]) => snapshot.event === event);
  const [oldest] = topics;
  if (topics.length > MAX_TOPICS && oldest !== undefined) snapshots.delete(oldest[0]);
}

/** Returns the number in the request's Last-Event-ID; 0 without an id of this event source. */
function seenBy(request: HttpRequest, source: string): number {
  const [, from, number] =
    /^([\w-]{8})-(\d{1,15})$/.exec(header(request, "last-event-id") ?? "") ?? [];
  return from === source ? Number(number) : 0;
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
