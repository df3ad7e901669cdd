// One source of server-sent events for many viewers. Each event is serialised once and the same
// bytes go to everybody. Events are snapshots: a viewer that does not keep up skips to the newest
// one, and one that has stopped reading is dropped, so what is held per viewer is bounded.
import type { Writable } from "node:stream";
import { monotonic } from "../base/clock.ts";
import { networkOf } from "./bounds/client-address.ts";
import { createWork } from "./bounds/work.ts";
import { Refusal } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";

export interface EventSource {
  /** The answer that makes a request a viewer; `first` is what it is shown at once. */
  view(request: HttpRequest, first: () => string | null): HttpResponse;
  /** A snapshot to everybody: it replaces what a slow viewer has not taken yet. */
  send(text: string): void;
  /** A comment that keeps proxies from closing a quiet stream. */
  ping(): void;
  readonly viewers: number;
}

export interface EventSourceOptions {
  readonly maxViewers: number;
  /** The same of one client. Default: all of them. */
  readonly maxPerClient?: number;
  /** A viewer whose connection takes nothing for so long is dropped, milliseconds. */
  readonly patienceMs: number;
  /** Told whenever the number of viewers has changed. */
  readonly onViewers: (viewers: number) => void;
}

interface Viewer {
  readonly connection: Writable;
  /** Since when the connection's buffer is full; null while it takes more. */
  fullSince: number | null;
  /** The newest event that is waiting for room. */
  waiting: Buffer | null;
}

/** An event as text. `data` must be one line, which JSON is. */
export function eventText(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

const PING = Buffer.from(": ping\n\n");

export function createEventSource(options: EventSourceOptions): EventSource {
  const viewers = new Set<Viewer>();
  const places = createWork(options.maxViewers, options.maxPerClient ?? options.maxViewers);

  const give = (viewer: Viewer, bytes: Buffer) => {
    if (viewer.fullSince !== null) {
      if (bytes !== PING) viewer.waiting = bytes;
      if (monotonic() - viewer.fullSince > options.patienceMs) viewer.connection.destroy();
    } else if (!viewer.connection.write(bytes)) {
      viewer.fullSince = monotonic();
    }
  };

  const join = (connection: Writable, request: HttpRequest, first: string | null) => {
    const { closing } = request;
    const giveUpPlace = closing.aborted ? null : places.enter(networkOf(request.client));
    if (giveUpPlace === null) {
      connection.end();
      return;
    }
    const viewer: Viewer = { connection, fullSince: null, waiting: null };
    const leave = () => {
      closing.removeEventListener("abort", end);
      giveUpPlace();
      if (viewers.delete(viewer)) options.onViewers(viewers.size);
    };
    const end = () => {
      leave();
      connection.end();
    };
    connection.on("drain", () => {
      viewer.fullSince = null;
      const { waiting } = viewer;
      viewer.waiting = null;
      if (waiting !== null) give(viewer, waiting);
    });
    connection.once("close", leave);
    closing.addEventListener("abort", end, { once: true });
    viewers.add(viewer);
    give(viewer, first === null ? PING : Buffer.from(first));
    options.onViewers(viewers.size);
  };

  return {
    view(request, first) {
      if (!places.hasRoom(networkOf(request.client))) {
        throw new Refusal(503, "busy", "too many event streams are open; close one and try again", {
          headers: { "retry-after": "10" },
        });
      }
      return {
        status: 200,
        headers: {
          "content-type": "text/event-stream; charset=utf-8",
          // nginx would hold events back.
          "x-accel-buffering": "no",
        },
        body: (connection) => join(connection, request, first()),
      };
    },
    send(text) {
      const bytes = Buffer.from(text);
      for (const viewer of viewers) give(viewer, bytes);
    },
    ping() {
      for (const viewer of viewers) give(viewer, PING);
    },
    get viewers() {
      return viewers.size;
    },
  };
}
