// The only owner of node:http. Turns sockets into HttpRequests and HttpResponses into bytes, and
// bounds what any client can hold: header size and count, time to send a request, connections,
// unanswered requests, unread bodies.
//
//   new ──start()──▶ listening ──stop()──▶ in-flight requests finish, idle connections and event
//                                          streams end ──▶ closed, at the latest at the deadline
import { randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { wait } from "../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Service } from "../base/service.ts";
import { type Connections, createConnections, type OpenExchange } from "./connections.ts";
import { errorResponse } from "./endpoint.ts";
import { Refusal } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";
import { checkHeaders, parseTarget } from "./target.ts";

export const defaultLimits = Object.freeze({
  headerBytes: 16_384,
  headerCount: 100,
  /** From the first byte to the end of the headers, milliseconds. */
  headersTimeout_ms: 10_000,
  /** From the first byte to the end of the body, milliseconds. */
  requestTimeout_ms: 30_000,
  /** An idle kept connection, milliseconds. */
  keepAlive_ms: 10_000,
  /** A connection on which nothing moves either way, milliseconds. */
  silence_ms: 60_000,
  connections: 2_000,
  /** Requests being worked on at once; event streams do not count. */
  unanswered: 200,
  /** What is read and thrown away of a body that was refused. */
  discardedBytes: 32 * 1_048_576,
  discard_ms: 5_000,
  /** How long stop() waits for requests in flight, milliseconds. */
  stop_ms: 9_000,
});
export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** Headers of answers to what is too malformed to be handled. */
  readonly headers: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly limits?: Partial<Limits>;
}

export interface HttpServer extends Service {
  /** Where it listens; known after start(). */
  readonly address: { readonly host: string; readonly port: number };
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const connections = createConnections(limits.connections);
  const server = nodeServer(limits);
  const answer = createAnswer(options, limits, connections);
  server.on("connection", (socket: Socket) => connections.add(socket));
  server.on("request", (req, res) => answer(req, res, false));
  server.on("checkContinue", (req, res) => answer(req, res, true));
  server.on("checkExpectation", (req, res) => answer(req, res, false));
  server.on("clientError", (error, socket) => refuseRaw(error, socket as Socket));
  server.on("dropRequest", (_req, socket) => socket.destroy());

  /** Answers what the parser could not read, when it is certain which request the answer is for. */
  const refuseRaw = (error: Error, socket: Socket) => {
    const first = connections.refuse(socket);
    if (!first || !socket.writable) return void socket.destroy();
    const where = { id: randomUUID(), method: "?", path: "?" };
    const response = errorResponse(unreadable(error), where, options.logger);
    options.logger.debug({ ...where, code: codeOf(error) }, "a request could not be read");
    const headers = { ...response.headers, ...options.headers, "x-request-id": where.id };
    socket.end(rawResponse(response.status, headers, String(response.body)));
    void wait(1_000, connections.closed(socket)).then(() => socket.destroy());
  };

  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await starting?.catch(() => {});
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const done = new AbortController();
    connections.drain();
    const deadline = wait(limits.stop_ms, done.signal).then((passed) => {
      if (!passed) return;
      options.logger.warn(
        { open: connections.size },
        "connections are cut off: they took too long",
      );
      connections.destroyAll();
    });
    await closed;
    done.abort();
    await deadline;
  };

  return {
    start() {
      if (stopping) return Promise.reject(new WorkerError("aborted", "the server was stopped"));
      starting ??= listen(server, options.host, options.port);
      return starting;
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
    [Symbol.asyncDispose]() {
      return this.stop();
    },
    get address() {
      const { address, port } = server.address() as AddressInfo;
      return { host: address, port };
    },
  };
}

function nodeServer(limits: Limits): http.Server {
  const server = http.createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeout_ms,
    requestTimeout: limits.requestTimeout_ms,
    keepAliveTimeout: limits.keepAlive_ms,
    connectionsCheckingInterval: Math.min(2_000, limits.headersTimeout_ms),
    insecureHTTPParser: false,
    // Node's own answer to a missing Host has no security headers: checkHeaders() gives ours.
    requireHostHeader: false,
  });
  // Node drops headers beyond its count without a word: ours are counted and refused instead.
  server.maxHeadersCount = 0;
  server.timeout = limits.silence_ms;
  return server;
}

type Answer = (req: http.IncomingMessage, res: http.ServerResponse, expects: boolean) => void;

function createAnswer(
  options: HttpServerOptions,
  limits: Limits,
  connections: Connections,
): Answer {
  let unanswered = 0;

  const respond = async (request: HttpRequest, problem: Refusal | null) => {
    if (problem === null && unanswered < limits.unanswered) {
      unanswered += 1;
      try {
        return await options.handle(request);
      } catch (error) {
        // handle() does not throw; if it does, the process must not end for it.
        return withHeaders(errorResponse(error, request, options.logger), request);
      } finally {
        unanswered -= 1;
      }
    }
    const busy = new Refusal(503, "busy", "too many requests at once; try again", {
      headers: { "retry-after": "2" },
    });
    return withHeaders(errorResponse(problem ?? busy, request, options.logger), request);
  };

  const withHeaders = (response: HttpResponse, { id }: HttpRequest): HttpResponse => ({
    ...response,
    headers: { ...response.headers, ...options.headers, "x-request-id": id },
  });

  return (req, res, expects) => {
    const exchange = connections.open(req.socket, () => res.headersSent || req.complete);
    res.once("close", exchange.close);
    // Without a listener a connection that breaks while we write would end the process.
    req.on("error", () => {});
    res.on("error", () => {});
    let invited = !expects;
    const invite = () => {
      if (!invited) res.writeContinue();
      invited = true;
    };
    const { request, problem } = readRequest(req, limits, exchange, invite);
    void respond(request, problem).then((response) => {
      const close = connections.draining || !invited;
      if (!req.complete && !close && !req.socket.destroyed) discardRest(req, limits);
      send(res, response, req.method === "HEAD", close);
    });
  };
}

/** The request, and what is wrong with it before anybody has looked at what it wants. */
function readRequest(
  req: http.IncomingMessage,
  limits: Limits,
  exchange: OpenExchange,
  invite: () => void,
): { request: HttpRequest; problem: Refusal | null } {
  const target = parseTarget(req.url ?? "", req.headers.host);
  const request: HttpRequest = {
    id: randomUUID(),
    method: req.method ?? "",
    path: target?.path ?? "",
    query: target?.query ?? new URLSearchParams(),
    params: {},
    headers: req.headers,
    host: target?.host,
    remoteAddress: req.socket.remoteAddress ?? "",
    closing: exchange.gone,
    body: { stream: req, invite },
    notes: {},
  };
  const problem =
    target === null
      ? new Refusal(400, "bad_request", "the request's target is not a path of this server")
      : checkHeaders(req.rawHeaders, req.httpVersion, target.host, limits.headerCount);
  return { request, problem };
}

function send(
  res: http.ServerResponse,
  { status, headers, body }: HttpResponse,
  isHead: boolean,
  close: boolean,
): void {
  if (res.destroyed || res.headersSent) return;
  if (close) res.setHeader("connection", "close");
  if (typeof body === "function") {
    res.writeHead(status, headers);
    if (isHead) res.end();
    else body(res);
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : (body ?? Buffer.alloc(0));
  res.writeHead(status, status === 304 ? headers : { ...headers, "content-length": bytes.length });
  res.end(bytes);
}

/** Reads on for a while, so that the client gets to see the answer, then cuts the connection. */
function discardRest(req: http.IncomingMessage, limits: Limits): void {
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
  // After the answer Node no longer tells the request that its connection has closed.
  socket.once("close", finish);
  req.resume();
  void wait(limits.discard_ms, done.signal).then((passed) => passed && socket.destroy());
}

function unreadable(error: Error): Refusal {
  switch (codeOf(error)) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal(431, "headers_too_large", "the request's headers are too large");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal(408, "request_timeout", "the request took too long to arrive");
    default:
      return new Refusal(400, "bad_request", "this is not an HTTP/1.1 request");
  }
}

function rawResponse(status: number, headers: Record<string, string>, body: string): string {
  const all = { ...headers, "content-length": Buffer.byteLength(body), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}

function listen(server: http.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, host, port)));
    server.listen({ host, port }, resolve);
  });
}

function listenError(error: Error, host: string, port: number): WorkerError {
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const advice: Record<string, string> = {
    EADDRINUSE: `${where} is in use; stop what listens there, or choose another address with --listen`,
    EACCES: `the system does not allow listening on ${where}; choose a port above 1023 with --listen`,
    EADDRNOTAVAIL: `this machine has no address ${host}; choose one of its own with --listen`,
    ENOTFOUND: `the host name ${host} is not known; choose an address with --listen`,
  };
  const sentence = advice[codeOf(error) ?? ""] ?? `cannot listen on ${where}: ${messageOf(error)}`;
  return new WorkerError("listen", sentence, { cause: error });
}
