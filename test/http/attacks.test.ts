// Tests that the server limits clients that send too much, read too little or open too many connections, and serves
// other clients meanwhile.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import type { Limits } from "../../src/http/bounds/limits.ts";
import { type HttpRequest, readJsonText } from "../../src/http/request.ts";
import type { HttpResponse } from "../../src/http/response.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import { connect, rawExchange, statuses } from "./raw-client.ts";

const servers: HttpServer[] = [];
after(() => Promise.all(servers.map((server) => server.stop())));

async function startServer(
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  limits: Partial<Limits>,
) {
  const server = createHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    handle: async (request) => handle(request),
    headers: {},
    logger: silentLogger,
    limits: { stopMs: 100, ...limits },
  });
  servers.push(server);
  await server.start();
  return server.address.port;
}

const answer = (body: string | Uint8Array) => ({ status: 200, headers: {}, body });
const get = (path = "/", more = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const LAST = "Connection: close\r\n";

async function until(isTrue: () => boolean) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("Of a thousand pipelined requests only a few are processed at once, and all are answered in order.", async () => {
  let working = 0;
  let most = 0;
  const port = await startServer(
    async (request) => {
      working += 1;
      most = Math.max(most, working);
      await new Promise(setImmediate);
      working -= 1;
      return answer(`<${request.path}>`);
    },
    { pipelined: 4 },
  );
  const paths = Array.from({ length: 1_000 }, (_, n) => `/${n}`);
  const text = await rawExchange(
    port,
    paths.map((path) => get(path)).join("") + get("/last", LAST),
  );
  assert.deepEqual(
    [...text.matchAll(/<(\/\w+)>/g)].map(([, path]) => path),
    [...paths, "/last"],
  );
  // The server parses input in slices of 512 bytes, but no slice while 4 requests are processed. A request has more
  // than 26 bytes.
  assert.ok(most <= 4 + 512 / 26, `${most} requests were processed at once`);
});

test("A request's body is read even if its connection already has as many requests in process as are allowed.", async () => {
  const body = JSON.stringify("x".repeat(100_000));
  const port = await startServer(
    async (request) =>
      answer(
        request.method === "POST" ? (await readJsonText(request, 1_000_000)).slice(-9) : "get",
      ),
    { pipelined: 1 },
  );
  const post =
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const text = await rawExchange(port, get() + post + post + get("/", LAST));
  assert.deepEqual(statuses(text), [200, 200, 200, 200]);
  assert.equal(text.match(/xxxxxxxx"/g)?.length, 2);
});

test("A response that is larger than a connection may buffer is replaced by a 413.", async () => {
  const port = await startServer(() => answer("x".repeat(5_000)), { unreadBytes: 4_999 });
  const text = await rawExchange(port, get("/", LAST));
  assert.match(text, /^HTTP\/1\.1 413 [\s\S]*"code":"too_large"/);
});

test("A client that reads nothing is cut off, and a client that reads slowly is not.", async () => {
  // The body is larger than the kernel's buffers for a client that does not read.
  const body = Buffer.alloc(48 * 1_048_576);
  const stalledMs = 2_000;
  let isCut = false;
  const port = await startServer(
    ({ path, left }) => {
      if (path === "/") return answer("ok");
      if (path === "/deaf") {
        left.addEventListener("abort", () => {
          isCut = true;
        });
      }
      return answer(body);
    },
    { stalledMs, unreadBytes: 64 * 1_048_576 },
  );
  const deaf = await connect(port);
  deaf.socket.pause();
  deaf.socket.write(get("/deaf"));
  const slow = await connect(port);
  // Until `deaf` is cut off, `slow` reads at a pace at which the whole body would take three times `stalledMs`. The
  // clock sets the pace, so the pace is the same on a busy machine. An even slower client could be cut off, too,
  // because the kernel makes room for more data only megabytes at a time.
  const startedAt = performance.now();
  let [taken, allowed] = [0, 0];
  slow.socket.on("data", (chunk) => {
    taken += chunk.length;
    if (taken >= allowed) slow.socket.pause();
  });
  slow.socket.write(get("/slow"));
  while (!isCut) {
    await rawExchange(port, get("/", LAST));
    allowed = (body.length * (performance.now() - startedAt)) / (3 * stalledMs);
    slow.socket.resume();
  }
  allowed = Infinity;
  slow.socket.resume();
  await until(() => taken > body.length || slow.socket.closed);
  assert.ok(taken > body.length, "the slow client receives the whole body");
  deaf.socket.resume();
  assert.ok(
    (await deaf.end()).length < body.length,
    "the client that reads nothing receives only a part of the body",
  );
  slow.socket.destroy();
});

test("One client cannot occupy all places for running requests.", async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  let working = 0;
  const port = await startServer(
    async () => {
      working += 1;
      await opened;
      return answer("done");
    },
    { unanswered: 10, unansweredPerClient: 3 },
  );
  const from = (localAddress: string) => rawExchange(port, get("/", LAST), localAddress);
  const greedy = Array.from({ length: 8 }, () => from("127.0.0.1"));
  await until(() => working === 3);
  const modest = from("127.0.0.2");
  await until(() => working === 4);
  open();
  assert.deepEqual(statuses(await modest), [200]);
  const counts = (await Promise.all(greedy)).map((text) => statuses(text)[0]).sort();
  assert.deepEqual(counts, [200, 200, 200, 503, 503, 503, 503, 503]);
});

test("Five hundred clients that never finish their headers do not block others.", async () => {
  const port = await startServer(() => answer("ok"), {});
  const slow = await Promise.all(Array.from({ length: 500 }, () => connect(port)));
  for (const { socket } of slow) socket.write("GET / HTTP/1.1\r\nHost: a\r\nX-");
  for (let n = 0; n < 50; n++) {
    assert.deepEqual(statuses(await rawExchange(port, get("/", LAST))), [200]);
  }
  for (const { socket } of slow) socket.destroy();
});

test("One client cannot occupy all connections, even if a request runs on each of them.", async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  let working = 0;
  const port = await startServer(
    async ({ path }) => {
      working += 1;
      if (path === "/slow") await opened;
      return answer("done");
    },
    { connections: 4 },
  );
  const slow = await Promise.all(Array.from({ length: 4 }, () => connect(port)));
  for (const { socket } of slow) socket.write(get("/slow", LAST));
  await until(() => working === 4);
  assert.equal(await rawExchange(port, get("/", LAST)), "", "the fifth connection is closed");
  assert.deepEqual(statuses(await rawExchange(port, get("/", LAST), "127.0.0.2")), [200]);
  open();
  const ended = await Promise.all(slow.map((one) => one.end()));
  assert.deepEqual(
    ended.flatMap(statuses),
    [200, 200, 200],
    "one of the four slow connections is closed to make room",
  );
});
