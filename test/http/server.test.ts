// Tests the HTTP server with slow, broken and hostile clients, and its start and stop.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { WorkerError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import type { Limits } from "../../src/http/bounds/limits.ts";
import type { HttpRequest } from "../../src/http/request.ts";
import { readJsonText } from "../../src/http/request.ts";
import type { HttpResponse } from "../../src/http/response.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import { connect, rawExchange, statuses } from "./raw-client.ts";

type Handle = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

const servers: HttpServer[] = [];
after(async () => {
  for (const server of servers) await server.stop();
});

async function startServer(handle: Handle, limits: Partial<Limits> = {}) {
  const server = createHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    handle: async (request) => {
      const response = await handle(request);
      return { ...response, headers: { ...response.headers, "x-frame-options": "DENY" } };
    },
    headers: { "x-frame-options": "DENY" },
    logger: silentLogger,
    limits,
  });
  servers.push(server);
  await server.start();
  return { server, port: server.address.port };
}

const plainText = (body: string, status = 200) => ({ status, headers: {}, body });
const echo: Handle = ({ method, path, host }) => plainText(`${method} ${path} ${host}`);

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test("An invalid request is answered once, with the usual headers, and its connection is closed.", async () => {
  const reached: string[] = [];
  const { port } = await startServer(async (request) => {
    reached.push(request.path);
    if (request.method === "POST") await readJsonText(request, 100);
    return echo(request);
  });
  const host = "Host: a\r\n";
  const json = "Content-Type: application/json\r\n";
  const length = "Content-Length: 2\r\n";
  const cases: [string, number][] = [
    ["nonsense\r\n\r\n", 400],
    ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    [`GET / HTTP/1.1\r\n${host}Bad Header: x\r\n\r\n`, 400],
    [`GET / HTTP/1.1\r\n${host}X : y\r\n\r\n`, 400],
    [`GET / HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`, 400],
    [`GET / HTTP/1.1\r\n${host}X: a\r\n folded\r\n\r\n`, 400],
    [`GET / HTTP/9.9\r\n${host}\r\n`, 400],
    [`GET / HTTP/2.0\r\n${host}\r\n`, 505],
    ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
    [`GET / HTTP/0.9\r\n${host}\r\n`, 400],
    ["GET /\r\n\r\n", 400],
    [`CONNECT a:1 HTTP/1.1\r\n${host}\r\n`, 405],
    ["CONNECT a:1 HTTP/2.0\r\n\r\n", 405],
    ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    [`GET / HTTP/1.1\r\n${host}Host: b\r\nConnection: close\r\n\r\n`, 400],
    ["GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 400],
    ["GET / HTTP/1.1\r\nHost: a/../b\r\nConnection: close\r\n\r\n", 400],
    ["GET / HTTP/1.1\r\nHost: user@a\r\nConnection: close\r\n\r\n", 400],
    [`GET nowhere HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    [`OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    [
      `GET / HTTP/1.1\r\n${host}Authorization: a\r\nAuthorization: b\r\nConnection: close\r\n\r\n`,
      400,
    ],
    [`POST / HTTP/1.1\r\n${host}${json}${length}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    [`POST / HTTP/1.1\r\n${host}${json}${length}Content-Length: 3\r\n\r\n{}`, 400],
    [`POST / HTTP/1.1\r\n${host}${json}Content-Length: -1\r\n\r\n{}`, 400],
    [`POST / HTTP/1.1\r\n${host}${json}Transfer-Encoding: gzip\r\n\r\n{}`, 400],
    [`POST / HTTP/1.1\r\n${host}${json}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 400],
    [`POST / HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, 400],
    [`POST / HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    [`GET / HTTP/1.1\r\n${host}X: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    [`GET /${"x".repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 431],
    [`GET / HTTP/1.1\r\n${host}${"X: y\r\n".repeat(101)}Connection: close\r\n\r\n`, 431],
  ];
  for (const [bytes, status] of cases) {
    const text = await rawExchange(port, bytes);
    const what = JSON.stringify(bytes.slice(0, 120));
    assert.deepEqual(statuses(text), [status], `${what}: ${text}`);
    assert.match(text, /^x-frame-options: DENY\r$/m, what);
    assert.match(text, /^\{"error":".+","code":"[a-z_]+"/m, what);
    assert.match(text, /^connection: close\r$/im, what);
  }
  await rawExchange(port, `GET / HTTP/2.0\r\n${host}\r\nGET /behind HTTP/1.1\r\n${host}\r\n`);
  // Only the request with the invalid chunk reached the handler.
  assert.deepEqual(reached, ["/"]);
});

test("If the headers for the length of a request's body are contradictory or invalid, neither this request nor a later request of the connection reaches the handler.", async () => {
  const seen: string[] = [];
  const { port } = await startServer((request) => {
    seen.push(request.path);
    return echo(request);
  });
  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const headers of [
    "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
    "Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Content-Length: 4\r\nContent-Length: 40\r\n",
  ]) {
    const first = `POST /first HTTP/1.1\r\nHost: a\r\n${headers}\r\n0\r\n\r\n`;
    await rawExchange(port, first + smuggled);
  }
  assert.deepEqual(seen, []);
});

test("Pipelined requests are answered in their order.", async () => {
  const slow = gate();
  const { port } = await startServer(async (request) => {
    if (request.path === "/1") await slow.opened;
    if (request.path === "/2") slow.open();
    return echo(request);
  });
  const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
  const text = await rawExchange(port, get("/1") + get("/2") + get("/3", "Connection: close\r\n"));
  assert.deepEqual(
    [...text.matchAll(/GET (\/\d)/g)].map(([, path]) => path),
    ["/1", "/2", "/3"],
  );
});

test("An absolute target's host overrides the Host header.", async () => {
  const { port } = await startServer(echo);
  const close = "Connection: close\r\n\r\n";
  const text = await rawExchange(port, `GET http://b:1/x?y HTTP/1.1\r\nHost: a\r\n${close}`);
  assert.match(text, /GET \/x b:1$/);
  const bare = await rawExchange(port, `GET http://b HTTP/1.1\r\nHost: a\r\n${close}`);
  assert.match(bare, /GET \/ b$/);
});

test("Requests whose headers or body arrive too slowly are answered with 408.", async () => {
  const limits = { headersTimeoutMs: 300, requestTimeoutMs: 500 };
  const { port } = await startServer(async (request) => {
    await readJsonText(request, 100);
    return echo(request);
  }, limits);
  const [headers, body, nothing] = await Promise.all([
    rawExchange(port, "GET / HTTP/1.1\r\nHost: a\r\nX: "),
    rawExchange(
      port,
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ),
    rawExchange(port),
  ]);
  assert.deepEqual([statuses(headers), statuses(body)], [[408], [408]]);
  assert.match(headers, /x-frame-options: DENY/);
  assert.deepEqual(statuses(nothing), [408]);
});

test("At the limit of connections, the oldest idle connection is closed for a new connection.", async () => {
  const { port } = await startServer(echo, { connections: 3 });
  const idle = [await connect(port), await connect(port), await connect(port)];
  const text = await rawExchange(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  assert.deepEqual(statuses(text), [200]);
  await idle[0]?.end();
  assert.deepEqual([idle[1]?.socket.closed, idle[2]?.socket.closed], [false, false]);
  for (const { socket } of idle) socket.destroy();
});

test("Requests beyond the limit of unanswered requests are answered with 503 at once.", async () => {
  const busy = gate();
  const { port } = await startServer(
    async (request) => {
      if (request.path === "/slow") await busy.opened;
      return echo(request);
    },
    { unanswered: 1 },
  );
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  const slow = rawExchange(port, get("/slow"));
  // The slow request may need a moment to arrive.
  let refused = await rawExchange(port, get("/quick"));
  while (statuses(refused)[0] === 200) refused = await rawExchange(port, get("/quick"));
  assert.match(refused, /^HTTP\/1\.1 503 [\s\S]*retry-after: 2\r\n[\s\S]*"code":"busy"/);
  busy.open();
  assert.deepEqual(statuses(await slow), [200]);
  assert.deepEqual(statuses(await rawExchange(port, get("/quick"))), [200]);
});

test("Expect: 100-continue is answered only when the body is read.", async () => {
  const { port } = await startServer(async (request) => {
    if (request.path === "/wanted") return plainText(await readJsonText(request, 100));
    return plainText("refused", 403);
  });
  const post = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n` +
    "Connection: close\r\nExpect: 100-continue\r\n\r\n";
  const wanted = await connect(port);
  wanted.socket.write(post("/wanted"));
  await wanted.received(/HTTP\/1\.1 100 Continue/);
  wanted.socket.write("{}");
  assert.deepEqual(statuses(await wanted.end()), [100, 200]);
  assert.deepEqual(statuses(await rawExchange(port, post("/refused"))), [403]);
});

test("The body of a refused request is read only up to a limit; after a short body the connection stays open.", async () => {
  const { port } = await startServer(() => plainText("refused", 403), { discardedBytes: 100_000 });
  const start = (length: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
  const keptOpen = await connect(port);
  keptOpen.socket.write(start(10));
  await keptOpen.received(/refused/);
  keptOpen.socket.write("0123456789GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  assert.deepEqual(statuses(await keptOpen.end()), [403, 403]);

  const endless = await connect(port);
  endless.socket.write(start(1_000_000_000));
  await endless.received(/refused/);
  const closed = endless.end();
  while (!endless.socket.closed) {
    endless.socket.write("x".repeat(50_000));
    await Promise.race([closed, new Promise(setImmediate)]);
  }
  assert.deepEqual(statuses(await closed), [403]);
});

test("stop() lets requests in progress finish, and closes idle connections and event streams.", async () => {
  const working = gate();
  const begun = gate();
  const { server, port } = await startServer(async (request) => {
    if (request.path === "/stream") {
      const { closing } = request;
      return {
        status: 200,
        headers: {},
        body: (connection) => {
          connection.write("first");
          closing.addEventListener("abort", () => connection.end("last"));
        },
      };
    }
    if (request.path === "/work") {
      begun.open();
      await working.opened;
    }
    return echo(request);
  });
  const idle = await connect(port);
  const keptOpen = await connect(port);
  keptOpen.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await keptOpen.received(/GET \//);
  const stream = await connect(port);
  stream.socket.write("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  await stream.received(/first/);
  const work = await connect(port);
  work.socket.write("GET /work HTTP/1.1\r\nHost: a\r\n\r\n");
  await begun.opened;

  let hasStopped = false;
  const stopped = server.stop().then(() => {
    hasStopped = true;
  });
  await Promise.all([idle.end(), keptOpen.end(), stream.end()]);
  assert.match(await stream.end(), /last/);
  assert.equal(hasStopped, false);
  await assert.rejects(connect(port));
  working.open();
  const answer = await work.end();
  assert.match(answer, /connection: close[\s\S]*GET \/work/i);
  await stopped;
  await server.stop();
});

test("stop() cuts off requests that exceed its deadline.", async () => {
  const begun = gate();
  const { server, port } = await startServer(
    async () => {
      begun.open();
      return new Promise<never>(() => {});
    },
    { stopMs: 50 },
  );
  const stuck = await connect(port);
  stuck.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await begun.opened;
  await server.stop();
  assert.equal(await stuck.end(), "");
});

test("A server can be stopped before its start, during its start, and twice at once.", async () => {
  const options = {
    listen: { host: "127.0.0.1", port: 0 },
    handle: async () => plainText(""),
    headers: {},
    logger: silentLogger,
  };
  const never = createHttpServer(options);
  await never.stop();
  await assert.rejects(never.start(), { code: "aborted" });
  const starting = createHttpServer(options);
  const started = starting.start();
  await Promise.all([starting.stop(), started]);
  const twice = createHttpServer(options);
  await Promise.all([twice.start(), twice.start()]);
  await Promise.all([twice.stop(), twice.stop()]);
});

test("An address that cannot be used is refused with advice.", async () => {
  const { port } = await startServer(echo);
  const start = (host: string, port: number) =>
    createHttpServer({
      listen: { host, port },
      handle: async () => plainText(""),
      headers: {},
      logger: silentLogger,
    }).start();
  await assert.rejects(start("127.0.0.1", port), (error) => {
    assert.ok(error instanceof WorkerError);
    assert.equal(error.code, "listen");
    assert.match(error.message, new RegExp(`^127\\.0\\.0\\.1:${port} is in use; stop`));
    return true;
  });
  await assert.rejects(start("203.0.113.7", 4000), /no address 203\.0\.113\.7/);
  await assert.rejects(start("does-not-exist.invalid", 4000), { code: "listen" });
});

test("The signal `closing` of a request aborts when its client disconnects.", async () => {
  const closing = gate();
  const begun = gate();
  const { port } = await startServer(async (request) => {
    request.closing.addEventListener("abort", closing.open);
    begun.open();
    await closing.opened;
    return plainText("unread");
  });
  const client = await connect(port);
  client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await begun.opened;
  client.socket.destroy();
  await once(client.socket, "close");
  await closing.opened;
});

test("A client that does not read its response is cut off.", async () => {
  const large = plainText("x".repeat(50_000_000));
  const closed = gate();
  const { port } = await startServer(
    (request) => {
      request.closing.addEventListener("abort", closed.open);
      return large;
    },
    { silenceMs: 200 },
  );
  const client = await connect(port);
  client.socket.pause();
  client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await closed.opened;
  client.socket.destroy();
});
