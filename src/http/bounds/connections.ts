// Tracks the connections and their requests, so that the server can stop gracefully. Limits the number of connections,
// and how many requests of one connection are processed at once.
import type { Socket } from "node:net";
import { WorkerError } from "../../base/errors.ts";
import { networkOf } from "./client-address.ts";
import type { Limits } from "./limits.ts";

/** The progress of a request. */
export interface RequestProgress {
  /** Whether the response has begun, or the request has been read to its end. */
  readonly isSettled: () => boolean;
  /** Whether the request has been read to the end of its body. */
  readonly isRead: () => boolean;
}

export interface OpenExchange {
  /** Aborts when `left` aborts, and when the server begins to stop. */
  readonly closing: AbortSignal;
  /** Aborts when the response has been sent or the connection is closed. */
  readonly left: AbortSignal;
  readonly close: () => void;
}

export interface HttpConnections {
  readonly size: number;
  /** Whether the server is stopping. */
  readonly draining: boolean;
  /**
   * Adds a connection. If the limit is reached, closes the oldest idle connection. If no connection is idle, closes a
   * connection, perhaps `socket` itself, of the client with the most connections.
   */
  add(socket: Socket): void;
  /** Replaces the connection `raw` by `socket`, the TLS socket on top of `raw`. */
  secured(raw: Socket | undefined, socket: Socket): void;
  open(socket: Socket, progress: RequestProgress): OpenExchange;
  /**
   * Returns what to do about a CONNECT request, or about bytes that cannot be parsed. `answer`: respond. `cut`: close
   * the connection without a response. `wait`: do nothing, because the connection is about to end.
   */
  refuse(socket: Socket): "answer" | "cut" | "wait";
  closed(socket: Socket): AbortSignal;
  /**
   * Aborts `closing` of all requests. If the connections belong to this server, closes each connection as soon as the
   * connection has no open request.
   */
  drain(): void;
  destroyAll(): void;
}

interface Connection {
  readonly network: string;
  readonly exchanges: Set<
    RequestProgress & { readonly end: () => void; readonly lose: () => void }
  >;
  readonly closed: AbortController;
  /** Called when a response has been sent, so that the next request can be parsed. */
  onRoom: () => void;
  refused: boolean;
}

// The reason with which the signals of requests abort. Without a reason, each abort would create an error with a stack.
const over = new WorkerError("aborted", "the client has left, or the server stops");

/**
 * Tracks connections. `isOurs`: whether the connections belong to this server. If not, drain() closes no connection,
 * and `pipelined` does not apply.
 */
export function createConnections(
  { connections: limit, pipelined }: Pick<Limits, "connections" | "pipelined">,
  isOurs = true,
): HttpConnections {
  // In order of creation, so that the oldest idle connection is found first.
  const all = new Map<Socket, Connection>();
  let draining = false;

  const add = (socket: Socket): Connection => {
    const connection: Connection = {
      network: networkOf(socket.remoteAddress ?? ""),
      exchanges: new Set(),
      closed: new AbortController(),
      onRoom: () => {},
      refused: false,
    };
    if (isOurs) connection.onRoom = pacePipeline(socket, () => isFull(connection.exchanges));
    if (all.size >= limit) (oldestIdle() ?? oldestOfMost(connection) ?? socket).destroy();
    all.set(socket, connection);
    socket.once("close", () => {
      all.delete(socket);
      connection.closed.abort();
      for (const exchange of connection.exchanges) exchange.lose();
    });
    return connection;
  };

  // A request whose body is still arriving needs further bytes, so its connection is not full.
  const isFull = (exchanges: Connection["exchanges"]) =>
    exchanges.size >= pipelined && [...exchanges].every(({ isRead }) => isRead());

  const oldestIdle = (): Socket | undefined => {
    for (const [socket, { exchanges }] of all) if (exchanges.size === 0) return socket;
    return undefined;
  };

  /**
   * Returns the oldest connection of the client with the most connections. null: the client of `added` has as many,
   * including `added`.
   */
  const oldestOfMost = (added: Connection): Socket | null => {
    const counts = new Map([[added.network, 1]]);
    for (const { network } of all.values()) counts.set(network, (counts.get(network) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (counts.get(added.network) === most) return null;
    for (const [socket, { network }] of all) if (counts.get(network) === most) return socket;
    return null;
  };

  return {
    get size() {
      return all.size;
    },
    get draining() {
      return draining;
    },
    add,
    secured(raw, socket) {
      if (raw !== undefined) all.delete(raw);
      add(socket);
    },
    open(socket, progress) {
      const connection = all.get(socket) ?? add(socket);
      const closing = new AbortController();
      const left = new AbortController();
      const end = () => closing.abort(over);
      const lose = () => {
        left.abort(over);
        end();
      };
      const exchange = { end, lose, ...progress };
      connection.exchanges.add(exchange);
      if (draining) end();
      const close = () => {
        connection.exchanges.delete(exchange);
        lose();
        // A response that began before the stop has no header `Connection: close`, so the connection is closed here.
        if (draining && isOurs && connection.exchanges.size === 0) socket.destroySoon();
        else connection.onRoom();
      };
      return { closing: closing.signal, left: left.signal, close };
    },
    refuse(socket) {
      const connection = all.get(socket);
      if (connection === undefined) return "cut";
      if (connection.refused) return "wait";
      connection.refused = true;
      // Responses are sent in the order of the requests, so a response is possible only if no earlier request is open.
      // If the only open request has no response yet and is not completely read, the malformed bytes are in its body.
      const open = [...connection.exchanges];
      const isClear = open.length === 0 || (open.length === 1 && open[0]?.isSettled() === false);
      return isClear ? "answer" : "cut";
    },
    closed: (socket) => all.get(socket)?.closed.signal ?? AbortSignal.abort(),
    drain() {
      draining = true;
      for (const [socket, { exchanges }] of all) {
        if (isOurs && exchanges.size === 0) socket.destroy();
        for (const exchange of exchanges) exchange.end();
      }
    },
    destroyAll() {
      for (const socket of all.keys()) socket.destroy();
    },
  };
}

/** How many bytes pacePipeline() passes to the parser at once: about twenty of the shortest requests. */
const SLICE_BYTES = 512;

/** Internal fields of node:http. */
interface ServedSocket extends Socket {
  readonly _paused?: boolean;
  readonly parser?: object | null;
}

/**
 * Passes received bytes to Node's parser in small slices, and none while `isFull` returns true. By itself, the parser
 * turns all received bytes into requests. Returns a function to call when `isFull` may have become false.
 */
function pacePipeline(socket: Socket, isFull: () => boolean): () => void {
  const served = socket as ServedSocket;
  const parse = socket.listeners("data")[0] as ((bytes: Buffer) => void) | undefined;
  if (parse === undefined) return () => {};
  let waiting: Buffer | null = null;
  let isFeeding = false;
  let isHolding = false;

  const feed = () => {
    if (isFeeding) return;
    isFeeding = true;
    while (waiting !== null && !isFull() && served._paused !== true) {
      // After an error or an upgrade there is no parser.
      if (socket.destroyed || socket.writableEnded || !served.parser) {
        waiting = null;
        break;
      }
      const slice: Buffer = waiting.subarray(0, SLICE_BYTES);
      waiting = slice.length < waiting.length ? waiting.subarray(SLICE_BYTES) : null;
      parse.call(socket, slice);
    }
    isFeeding = false;
    if (waiting !== null && !socket.destroyed) {
      isHolding = true;
      socket.pause();
    } else if (isHolding) {
      isHolding = false;
      if (served._paused !== true) socket.resume();
    }
  };

  socket.off("data", parse);
  socket.on("data", (bytes: Buffer) => {
    waiting = waiting === null ? bytes : Buffer.concat([waiting, bytes]);
    feed();
  });
  // node:http resumes the socket by itself after a response or when a body is read.
  socket.on("resume", () => waiting !== null && feed());
  return () => waiting !== null && feed();
}
