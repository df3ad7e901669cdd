// Answers the requests of node:http servers: converts Node's request to an HttpRequest, and sends the response. Limits
// the number of requests that are processed at once, and the memory for their responses.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { wait } from "../base/clock.ts";
import { createAnswerMemory, type Reservation } from "./bounds/answer-memory.ts";
import { type ClientAddress, networkOf, plainAddress } from "./bounds/client-address.ts";
import type { HttpConnections, OpenExchange } from "./bounds/connections.ts";
import type { Limits } from "./bounds/limits.ts";
import { createWork } from "./bounds/work.ts";
import { errorResponse, type Report } from "./endpoint.ts";
import { UNIX_PEER } from "./listen/listen-target.ts";
import { Refusal } from "./refusal.ts";
import { checkHeaders, checkVersion, type HttpRequest, parseTarget } from "./request.ts";
import { cutOff, type HttpResponse } from "./response.ts";

export interface ExchangeOptions extends Report {
  /** Must not throw. */
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** Headers of the responses that do not come from `handle`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Default: the address of the connection's peer. */
  readonly clientOf?: ClientAddress | undefined;
  /** Whether the peer is connected through a unix socket. Default: whether the server listens on a unix socket. */
  readonly isUnix?: (peer: Socket) => boolean;
}

/**
 * Answers a request of Node's server. `expects`: the client sends the body only after `100 Continue`. `url`: the
 * whole target of the request, for frameworks that shorten `req.url`. Default: `req.url`.
 */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  expects: boolean,
  url?: string,
) => void;

export function createAnswer(
  options: ExchangeOptions,
  limits: Limits,
  connections: HttpConnections,
): NodeHandler {
  const { clientOf = plainAddress, isUnix = isOnUnix } = options;
  const peerOf = (peer: Socket) => (isUnix(peer) ? UNIX_PEER : (peer.remoteAddress ?? ""));
  const idleTimeouts = new WeakMap<Socket, number>();
  const work = createWork(limits.unanswered, limits.unansweredPerClient);
  const memory = createAnswerMemory(limits);
  /** Connections with a malformed request whose end may be unclear. */
  const unclear = new WeakSet<Socket>();

  const respond = async (request: HttpRequest, problem: Refusal | null) => {
    if (problem !== null) return refused(problem, request);
    const leave = work.enter(networkOf(request.client));
    if (leave === null) return refused(tooMany, request);
    try {
      return await options.handle(request);
    } catch (error) {
      // The process must survive even if handle() throws.
      return refused(error, request);
    } finally {
      leave();
    }
  };

  const refused = (error: unknown, request: HttpRequest) =>
    withHeaders(errorResponse(error, request, options), request);

  const withHeaders = (response: HttpResponse, { id }: HttpRequest): HttpResponse => ({
    ...response,
    headers: { ...response.headers, ...options.headers, "x-request-id": id },
  });

  /**
   * Counts the bytes of the body in the memory for responses. Returns a refusal if there is no room for the bytes. A
   * streamed body is not counted.
   */
  const counted = (response: HttpResponse, request: HttpRequest, reservation: Reservation) => {
    if (typeof response.body === "function") {
      reservation.release();
      return response;
    }
    const body = typeof response.body === "string" ? Buffer.from(response.body) : response.body;
    const problem = reservation.settle(body?.length ?? 0);
    if (problem === null) return { ...response, body };
    reservation.release();
    return refused(problem === "busy" ? noRoom : tooLarge(body?.length ?? 0), request);
  };

  return (req, res, expects, url = req.url ?? "") => {
    if (unclear.has(req.socket)) return;
    // After the connection was closed, no event `close` follows, so the exchange would never end.
    if (req.socket.destroyed || res.destroyed) return;
    const exchange = connections.open(req.socket, {
      isSettled: () => res.headersSent || req.complete,
      isRead: () => req.complete,
    });
    res.once("close", exchange.close);
    // The timeouts set below are for this request only, so a listener for `finish` restores the timeout. This listener
    // must be called before Node's own listener for `finish`, which sets the timeout of an idle connection.
    const idleMs = idleTimeouts.get(req.socket) ?? req.socket.timeout ?? 0;
    idleTimeouts.set(req.socket, idleMs);
    res.prependOnceListener("finish", () => req.socket.setTimeout(idleMs));
    // Without a listener for errors, a connection that breaks during a write would end the process.
    req.on("error", () => {});
    res.on("error", () => {});
    // After a timeout, the connection is cut off if the client does not read, but not if there is nothing to send.
    res.on("timeout", () => req.socket.writableLength > 0 && cutOff(res));
    let invited = !expects;
    const invite = () => {
      if (!invited) res.writeContinue();
      invited = true;
    };
    const { request, problem } = readRequest({
      ...{ req, url, peerOf, clientOf, limits, exchange, invite },
      reserve: async (bytes) => {
        if (!(await reservation.reserve(bytes, exchange.left))) throw noRoom;
      },
    });
    const reservation = memory.open(req.socket, networkOf(request.client));
    if (problem?.headers["connection"] === "close") unclear.add(req.socket);
    const respondInTurn = async () => {
      await reservation.readOn(exchange.left);
      // While the request is processed, the request and its SQL statements have limits of their own.
      req.socket.setTimeout(0);
      return respond(request, problem);
    };
    void respondInTurn().then((response) => {
      const isSupported = checkVersion(req.httpVersion) === null;
      const close = connections.draining || !invited || !isSupported;
      if (!req.complete && !close && !req.socket.destroyed) discardRest(req, limits);
      if (res.destroyed || res.headersSent || exchange.left.aborted) return reservation.release();
      exchange.left.addEventListener("abort", () => reservation.release(), { once: true });
      req.socket.setTimeout(limits.stalledMs);
      send(res, counted(response, request, reservation), req.method === "HEAD", close);
    });
  };
}

/** `server` is an internal field of node:http. */
interface AcceptedSocket extends Socket {
  readonly server?: Server;
}

function isOnUnix({ remoteAddress, server }: AcceptedSocket): boolean {
  if (remoteAddress !== undefined || server === undefined) return false;
  const bound = server.address();
  // Node returns null for a unix socket that was passed as a descriptor.
  return typeof bound === "string" || (bound === null && server.listening);
}

// The connection is closed, so that the client gets no responses to the rest of its pipeline.
const BUSY = { headers: { "retry-after": "2", connection: "close" } };

const tooMany = new Refusal(503, "busy", "too many requests at once; try again", BUSY);

const noRoom = new Refusal(
  503,
  "busy",
  "the memory for responses is full; read the open responses, and try again",
  BUSY,
);

function tooLarge(bytes: number): Refusal {
  const size = (bytes / 1_048_576).toFixed(1);
  const message = `the answer has ${size} MiB, more than a connection may buffer; request less`;
  return new Refusal(413, "too_large", message);
}

interface Arrival {
  readonly req: IncomingMessage;
  readonly url: string;
  readonly peerOf: (socket: Socket) => string;
  readonly clientOf: ClientAddress;
  readonly limits: Limits;
  readonly exchange: OpenExchange;
  readonly invite: () => void;
  readonly reserve: HttpRequest["reserve"];
}

function readRequest(arrival: Arrival): {
  request: HttpRequest;
  problem: Refusal | null;
} {
  const { req, url, peerOf, clientOf, limits, exchange, invite, reserve } = arrival;
  const target = parseTarget(url, req.headers.host);
  const remoteAddress = peerOf(req.socket);
  const request: HttpRequest = {
    id: randomUUID(),
    method: req.method ?? "",
    httpVersion: req.httpVersion,
    path: target?.path ?? "",
    query: target?.query ?? new URLSearchParams(),
    params: {},
    headers: req.headers,
    host: target?.host,
    remoteAddress,
    client: clientOf(remoteAddress, req.headers),
    closing: exchange.closing,
    left: exchange.left,
    body: { stream: req, invite },
    incoming: req,
    reserve,
    notes: {},
  };
  const problem =
    checkVersion(req.httpVersion) ??
    (target === null
      ? new Refusal(400, "bad_request", "the request's target is not a path of this server")
      : checkHeaders(req.rawHeaders, req.httpVersion, target.host, limits.headerCount));
  return { request, problem };
}

function send(
  res: ServerResponse,
  { status, headers, body, endsWithConnection = false }: HttpResponse,
  isHead: boolean,
  close: boolean,
): void {
  if (close || endsWithConnection) res.setHeader("connection", "close");
  if (typeof body === "function") {
    if (endsWithConnection) res.removeHeader("transfer-encoding");
    res.writeHead(status, headers);
    if (isHead) res.end();
    else body(res);
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : (body ?? Buffer.alloc(0));
  res.writeHead(status, status === 304 ? headers : { ...headers, "content-length": bytes.length });
  res.end(bytes);
}

/** Reads and discards the rest of a request, so that its client can read the response. */
function discardRest(req: IncomingMessage, limits: Limits): void {
  const { socket } = req;
  let left = limits.discardedBytes;
  const done = new AbortController();
  const finish = () => {
    done.abort();
    socket.off("close", finish);
  };
  req.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
  req.once("end", finish);
  // After the response, a closed connection causes no event of `req`, only of its socket.
  socket.once("close", finish);
  req.resume();
  void wait(limits.discardMs, done.signal).then((passed) => passed && socket.destroy());
}
