// Tests long downloads (stream.ts). The headers of a download are sent even if its first piece takes long. If a
// download stalls or fails after its headers were sent, the download is cut off. Then its place among the downloads
// that may run at once becomes free.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { messageOf } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { createWork } from "../../src/http/bounds/work.ts";
import type { ListenTarget } from "../../src/http/listen/listen-target.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import { type StreamLimits, streamResponse } from "../../src/http/stream.ts";
import { connect, rawExchange, statuses } from "./raw-client.ts";

const servers: HttpServer[] = [];
after(() => Promise.all(servers.map((server) => server.stop())));

const GET = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const LIMITS: StreamLimits = { beginMs: 60_000, stillMs: 60_000, stalledMs: 60_000 };

async function serve(
  pieces: (signal: AbortSignal) => AsyncGenerator<string>,
  limits: Partial<StreamLimits>,
  listen: ListenTarget = { host: "127.0.0.1", port: 0 },
) {
  const places = createWork(1, 1);
  const broken: string[] = [];
  const begun = { times: 0 };
  const server = createHttpServer({
    listen,
    handle: (request) =>
      streamResponse(
        request,
        places,
        async () => ({
          headers: {},
          pieces,
          onBegin: async () => {
            begun.times += 1;
          },
          trailers: () => ({ "x-all": "yes" }),
          onBroken: (error) => broken.push(messageOf(error)),
        }),
        { ...LIMITS, ...limits },
      ),
    headers: {},
    logger: silentLogger,
    limits: { stopMs: 100 },
  });
  servers.push(server);
  await server.start();
  return { port: server.address.port, places, broken, begun };
}

test("A download begins before its first piece is ready.", async () => {
  const { promise: piece, resolve: makePiece } = Promise.withResolvers<string>();
  const { port } = await serve(
    async function* () {
      yield await piece;
    },
    { beginMs: 1 },
  );
  const client = await connect(port);
  client.socket.write(GET);
  assert.match(await client.received(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
  makePiece("late");
  assert.match(await client.end(), /late[\s\S]*x-all: yes/);
});

test("If a download fails before it has begun, the client receives an error response.", async () => {
  const { port, places, begun } = await serve(async function* () {
    yield* [];
    throw new Error("not today");
  }, {});
  assert.deepEqual(statuses(await rawExchange(port, GET)), [500]);
  assert.equal(begun.times, 0);
  assert.ok(places.hasRoom("127.0.0.1"));
});

test("A stalled download is cut off, and its place is free again.", async () => {
  for (const first of [[], ["", "some"]]) {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const { port, places, broken } = await serve(
      async function* (signal) {
        yield* first;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        leave();
      },
      { beginMs: 1, stillMs: 50 },
    );
    const text = await rawExchange(port, GET);
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.doesNotMatch(text, /x-all/, "the stalled download does not look complete");
    await left;
    assert.deepEqual(broken, ["no data for 0.05 s"]);
    assert.ok(places.hasRoom("127.0.0.1"));
  }
});

test("A HEAD request for a download starts no body, and the place of the download is free afterwards.", async () => {
  let hasBegun = false;
  // biome-ignore lint/correctness/useYield: it must not start
  const { port, places } = await serve(async function* () {
    hasBegun = true;
  }, {});
  const text = await rawExchange(port, GET.replace("GET", "HEAD"));
  assert.deepEqual([statuses(text), hasBegun], [[200], false]);
  assert.ok(places.hasRoom("127.0.0.1"));
});

test("If a download fails, the connection of an HTTP/1.0 client is reset; a normal end would look like success.", async () => {
  const { port } = await serve(async function* () {
    yield "some";
    throw new Error("not today");
  }, {});
  const client = await connect(port);
  const closed = once(client.socket, "error");
  client.socket.write("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  const [error] = await closed;
  assert.equal(error.code, "ECONNRESET");
});

test("A download over a unix socket, which cannot be reset, needs HTTP/1.1.", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "wk-stream-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "socket");
  await serve(async function* () {}, {}, { path, mode: 0o600, gid: null });
  for (const [version, status] of [
    ["1.0", 505],
    ["1.1", 200],
  ] as const) {
    const socket = net.connect({ path });
    socket.write(`GET / HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`);
    assert.deepEqual(statuses(await text(socket)), [status]);
  }
});
