// The HTTP server, on node:http and node:https. Every resource that clients can use is limited (bounds/limits.ts).
//
//   new ──start()──▶ listening ──stop()──▶ requests in progress finish; event streams, downloads and idle
//                                          connections end ──▶ closed, at the latest after stopMs
import { randomUUID } from "node:crypto";
import http, { STATUS_CODES } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { wait } from "../base/clock.ts";
import { codeOf, WorkerError } from "../base/errors.ts";
import type { Service } from "../base/service.ts";
import { createConnections } from "./bounds/connections.ts";
import { defaultLimits, type Limits } from "./bounds/limits.ts";
import { errorResponse } from "./endpoint.ts";
import { createAnswer, type ExchangeOptions } from "./exchange.ts";
import type { Certificate } from "./listen/certificate.ts";
import { listen } from "./listen/listen.ts";
import { type BoundAddress, type ListenTarget, targetText } from "./listen/listen-target.ts";
import { Refusal } from "./refusal.ts";

export interface HttpServerOptions extends ExchangeOptions {
  readonly listen: ListenTarget;
  /** The certificate for TLS. Default: none (plain HTTP). */
  readonly certificate?: Certificate | null;
  readonly limits?: Partial<Limits>;
}

export interface HttpServer extends Service {
  /** The address at which the server listens. Available after start(). */
  readonly address: BoundAddress;
  /** Whether the server listens on a unix socket. Available after start(). */
  readonly isUnix: boolean;
  /** Makes new connections use the certificate that was loaded last. Does nothing without TLS. */
  renewCertificate(): void;
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { certificate = null } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const connections = createConnections(limits);
  const server = nodeServer(limits, certificate);
  let isUnix = false;
  const answer = createAnswer({ ...options, isUnix: () => isUnix }, limits, connections);
  server.on("connection", (socket: Socket) => connections.add(socket));
  server.on("secureConnection", (socket: ServedTlsSocket) => {
    connections.secured(socket._parent, socket);
  });
  server.on("request", (req, res) => answer(req, res, false));
  server.on("checkContinue", (req, res) => answer(req, res, true));
  server.on("checkExpectation", (req, res) => answer(req, res, false));
  server.on("clientError", (error, socket) => refuseRaw(unreadable(error), socket as Socket));
  server.on("connect", (_req, socket) => {
    socket.on("error", () => {}); // Without a listener, an error would end the process.
    refuseRaw(noTunnel, socket as Socket);
  });
  server.on("dropRequest", (_req, socket) => socket.destroy());

  /** Refuses CONNECT and bytes that are not a request. */
  const refuseRaw = (refusal: Refusal, socket: Socket) => {
    const verdict = connections.refuse(socket);
    if (verdict === "wait") return;
    if (verdict === "cut" || !socket.writable) return void socket.destroy();
    const where = { id: randomUUID(), method: "?", path: "?" };
    const response = errorResponse(refusal, where, options);
    options.logger.debug(
      { ...where, code: refusal.code, reason: refusal.message },
      "a request was refused before it reached a route",
    );
    const headers = { ...response.headers, ...options.headers, "x-request-id": where.id };
    socket.end(rawResponse(response.status, headers, String(response.body)));
    void wait(1_000, connections.closed(socket)).then(() => socket.destroy());
  };

  const start = async () => {
    await listen(server, options.listen);
    // Node returns null for a unix socket that was passed as a descriptor.
    isUnix = typeof server.address() === "string" || server.address() === null;
  };
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await starting?.catch(() => {});
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const done = new AbortController();
    connections.drain();
    const deadline = wait(limits.stopMs, done.signal).then((passed) => {
      if (!passed) return;
      options.logger.warn(
        { open: connections.size },
        "connections are cut off: they did not end within the time limit",
      );
      connections.destroyAll();
    });
    await closed;
    done.abort();
    await deadline;
  };

  return {
    start() {
      if (stopping !== undefined) {
        return Promise.reject(new WorkerError("aborted", "the server was stopped"));
      }
      starting ??= start();
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
      const bound = server.address();
      if (typeof bound === "string") return { host: bound, port: 0 };
      if (bound === null) return { host: targetText(options.listen), port: 0 };
      return { host: bound.address, port: bound.port };
    },
    get isUnix() {
      return isUnix;
    },
    renewCertificate() {
      if (server instanceof https.Server) server.setSecureContext(certificate?.options ?? {});
    },
  };
}

/** Node's TLS socket with an internal field: the connection under the encryption. */
interface ServedTlsSocket extends TLSSocket {
  readonly _parent?: Socket;
}

function nodeServer(limits: Limits, certificate: Certificate | null): http.Server | https.Server {
  const settings = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(2_000, limits.headersTimeoutMs),
    insecureHTTPParser: false,
    // checkHeaders() refuses requests without a Host header: Node's own response would have no security headers.
    requireHostHeader: false,
  };
  const server =
    certificate === null
      ? http.createServer(settings)
      : https.createServer({
          ...settings,
          ...certificate.options,
          handshakeTimeout: limits.headersTimeoutMs,
        });
  // 0: no limit, because Node would silently drop headers. checkHeaders() refuses too many headers.
  server.maxHeadersCount = 0;
  server.timeout = limits.silenceMs;
  return server;
}

/** Returns the refusal for an error that Node reports as `clientError`. */
function unreadable(error: Error): Refusal {
  switch (codeOf(error)) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal(431, "headers_too_large", "the request's headers are too large");
    case "HPE_PAUSED_H2_UPGRADE":
      return new Refusal(505, "http_version", "HTTP/2 is not supported; use HTTP/1.1");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal(408, "request_timeout", "the request took too long to arrive");
    default:
      return new Refusal(400, "bad_request", "this is not an HTTP/1.1 request");
  }
}

const noTunnel = new Refusal(
  405,
  "method_not_allowed",
  "CONNECT is not supported; use GET, HEAD, POST",
  { headers: { allow: "GET, HEAD, POST" } },
);

function rawResponse(status: number, headers: Record<string, string>, body: string): string {
  const all = { ...headers, "content-length": Buffer.byteLength(body), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
