// Who is connected and what each connection is doing: the knowledge that ends a server gracefully
// and keeps idle connections from shutting others out.
import type { Socket } from "node:net";
import { WorkerError } from "../../base/errors.ts";
import type { Limits } from "./limits.ts";

/** How far a request has come. */
export interface RequestProgress {
  /** Whether an answer on this connection could be for it. */
  readonly isSettled: () => boolean;
  /** Whether all of it has been read, its body too. */
  readonly isRead: () => boolean;
}

export interface OpenExchange {
  /** Aborts when the connection has gone, or when the server begins to stop. */
  readonly closing: AbortSignal;
  /** Aborts when the connection has gone. */
  readonly left: AbortSignal;
  readonly close: () => void;
}

export interface HttpConnections {
  readonly size: number;
  /** The server is stopping: every answer is its connection's last. */
  readonly draining: boolean;
  /** A new connection. Beyond the limit the oldest idle one makes room, else the new one goes. */
  add(socket: Socket): void;
  /** One of them is encrypted from now on: it goes on as `socket`. */
  secured(raw: Socket | undefined, socket: Socket): void;
  /** A request has begun. */
  open(socket: Socket, progress: RequestProgress): OpenExchange;
  /**
   * What to do about bytes that cannot be read: `answer` where it is clear which request the answer
   * is for, else `cut` the connection; `wait` when it has been answered and is about to end.
   */
  refuse(socket: Socket): "answer" | "cut" | "wait";
  /** Aborts when the connection is closed. */
  closed(socket: Socket): AbortSignal;
  /** Ends event streams and idle connections; the others end with their answer. */
  drain(): void;
  destroyAll(): void;
}

interface Connection {
  readonly exchanges: Set<
    RequestProgress & { readonly end: () => void; readonly lose: () => void }
  >;
  readonly closed: AbortController;
  /** One of its requests has been answered. */
  onRoom: () => void;
  refused: boolean;
}

// Why their signals abort. One for all requests: each would get a DOMException with a stack of its own, a
// tenth of what it costs to refuse a request.
const over = new WorkerError("aborted", "the client has left, or the server stops");

/** `isOurs`: the connections are to be ended when the server stops. */
export function createConnections(
  { connections: limit, pipelined }: Pick<Limits, "connections" | "pipelined">,
  isOurs = true,
): HttpConnections {
  // In the order in which they were made, so that the oldest idle one is found first.
  const all = new Map<Socket, Connection>();
  let draining = false;

  const add = (socket: Socket): Connection => {
    const connection: Connection = {
      exchanges: new Set(),
      closed: new AbortController(),
      onRoom: () => {},
      refused: false,
    };
    if (isOurs) connection.onRoom = pacePipeline(socket, () => isFull(connection.exchanges));
    all.set(socket, connection);
    socket.once("close", () => {
      all.delete(socket);
      connection.closed.abort();
      for (const exchange of connection.exchanges) exchange.lose();
    });
    if (all.size > limit) (oldestIdle() ?? socket).destroy();
    return connection;
  };

  // A request that is still coming needs what is behind its headers.
  const isFull = (exchanges: Connection["exchanges"]) =>
    exchanges.size >= pipelined && [...exchanges].every(({ isRead }) => isRead());

  const oldestIdle = (): Socket | undefined => {
    for (const [socket, { exchanges }] of all) if (exchanges.size === 0) return socket;
    return undefined;
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
      const close = () => {
        connection.exchanges.delete(exchange);
        lose();
        // An answer that was begun before the stop did not say that it is the last.
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
      // A request whose body is still coming is the one that broke; a complete one is not.
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

/** At the most twenty requests, since none is shorter than 26 bytes. */
const SLICE_BYTES = 512;

/** What node:http keeps on a socket of its own: whether it has paused the parser, and the parser. */
interface ServedSocket extends Socket {
  readonly _paused?: boolean;
  readonly parser?: object | null;
}

/**
 * Keeps a connection from having many requests in work at once. Node's parser makes requests of all
 * bytes that have come, a thousand from one packet. Here it is fed in slices, and not while enough of its
 * requests are in work: what comes behind them waits as bytes, then in the kernel, then at the client.
 *
 *   feeding ──enough requests in work──▶ holding (socket paused) ──one is answered──▶ feeding
 *
 * Call what it returns when `isFull` may have become false.
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
      // After an error, or an upgrade, nothing is parsed any more.
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
  // node:http resumes by itself when answers have been taken, or a body is read.
  socket.on("resume", () => waiting !== null && feed());
  return () => waiting !== null && feed();
}
