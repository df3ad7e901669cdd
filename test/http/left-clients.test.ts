// Tests requests whose clients leave early. If the body of such a request is read only after the client has left, the
// request no longer counts as unanswered. If an application passes a request on after the request has ended, the
// request is not processed.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import type { Limits } from "../../src/http/bounds/limits.ts";
import { createMount } from "../../src/http/mount.ts";
import { type HttpRequest, readJsonText } from "../../src/http/request.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { connect, rawExchange, statuses } from "./raw-client.ts";

const POST =
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n";
const GET = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const limits: Partial<Limits> = { unansweredPerClient: 1 };
const answer = { status: 200, headers: {}, body: "answer" };

test("A request whose client leaves before the body is read no longer counts as unanswered.", {
  timeout: 10_000,
}, async () => {
  const broken = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<void>();
  const server = createHttpServer({
    listen: { host: "127.0.0.1", port: 0 },
    handle: async (request) => {
      if (request.method === "GET") return answer;
      begun.resolve();
      // As after a slow login, the body is read only when the client has left.
      await once(request.left, "abort");
      const reading = readJsonText(request, 100);
      reading.catch(broken.resolve);
      await reading;
      return answer;
    },
    headers: {},
    logger: silentLogger,
    limits,
  });
  await server.start();
  after(() => server.stop());
  const client = await connect(server.address.port);
  client.socket.write(`${POST}{`);
  await begun.promise;
  client.socket.destroy();
  assert.match(String(await broken.promise), /the body ended too early/);
  assert.deepEqual(statuses(await rawExchange(server.address.port, GET)), [200]);
});

test("In an application's server, a request that has ended before it is passed on is not processed.", async () => {
  const handled: HttpRequest[] = [];
  const handle = async (request: HttpRequest) => {
    handled.push(request);
    return answer;
  };
  const { answer: onRequest } = createMount({ handle, headers: {}, logger: silentLogger }, limits);
  const arrived = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const server = http.createServer(async (req, res) => {
    if (req.method === "POST") {
      arrived.resolve();
      req.on("error", () => {});
      await new Promise((closed) => req.socket.once("close", closed));
    }
    // The application sends a response of its own, for example after a time limit, and then passes the request on.
    if (req.url === "/answered") await new Promise<void>((done) => res.end("late", done));
    await new Promise(setImmediate);
    onRequest(req, res);
    if (req.method === "POST") late.resolve();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const client = await connect(port);
  client.socket.write(POST);
  await arrived.promise;
  client.socket.destroy();
  await late.promise;
  assert.match(await rawExchange(port, GET.replace("/", "/answered")), /late/);
  assert.equal(handled.length, 0);
  assert.match(await rawExchange(port, GET), /answer/);
  assert.equal(handled.length, 1);
});
