// Tests the admin as a request handler in an application's own HTTP server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import pg from "pg";
import type { AuthOptions } from "../../src/admin/config/auth-options.ts";
import { adminServerConfig } from "../../src/admin/config/config-builder.ts";
import { createAdminHandler } from "../../src/admin/handler.ts";
import { connect } from "../http/raw-client.ts";
import { createClient, migratedDatabase, testAssets } from "./admin-harness.ts";

const { url } = await migratedDatabase();
const pool = new pg.Pool({ connectionString: url, max: 2 });
const TOKEN = "a-token-that-is-long-enough";
after(() => pool.end());

async function application(auth: AuthOptions | "none" = { mode: "bearer", token: TOKEN }) {
  const config = adminServerConfig(pool)
    .basePath("/queue/")
    .auth(auth === "none" ? { mode: "none" } : auth)
    .build();
  const admin = createAdminHandler(config, { assets: async () => testAssets });
  const server = http.createServer((req, res) => {
    if (req.url?.startsWith("/queue")) admin(req, res);
    else if (req.url === "/taken") {
      req
        .resume()
        .once("end", () => admin(Object.assign(req, { originalUrl: "/queue/api/jobs" }), res));
    } else res.end("the application");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { admin, server, port, client: createClient(port) };
}

test("The handler answers requests below its path, and the application answers all others.", async () => {
  const { admin, client, server } = await application();
  const headers = { authorization: `Bearer ${TOKEN}` };
  assert.equal((await client.get("/")).text, "the application");
  assert.equal((await client.get("/queue")).headers.location, "/queue/");
  assert.equal((await client.get("/queue/")).text, "page");
  assert.equal((await client.get("/queue/api/session")).status, 401);
  const session = await client.send("GET", "/queue/api/session", { headers });
  const write = await client.send("POST", "/queue/api/jobs", {
    headers: {
      ...headers,
      "content-type": "application/json",
      "x-worker-admin-csrf": session.body.csrf_token,
    },
    body: '{"identifier":"t"}',
  });
  assert.deepEqual([write.status, write.body.message], [200, write.body.message]);
  assert.equal((await client.get("/queue/nothing")).status, 404);
  await admin.close();
  server.close();
});

test("close() ends event streams and keeps the application's connections open.", async () => {
  const { admin, port, server, client } = await application("none");
  const other = await connect(port);
  other.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await other.received(/the application/);
  const viewer = await connect(port);
  viewer.socket.write("GET /queue/api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await viewer.received(/event: overview/);
  await admin.close();
  // The admin has closed the connection of the stream, after a whole event.
  assert.match(await viewer.end(), /\n\n$/);
  assert.equal(other.socket.closed, false);
  assert.equal((await client.get("/")).text, "the application");
  server.closeAllConnections();
  server.close();
});

test("After close(), streams and writes are answered with 503, and the application's server can close.", async () => {
  const { admin, client, server } = await application("none");
  const { body } = await client.get("/queue/api/session");
  await admin.close();
  for (const path of ["events", "export"]) {
    const { status, body: refused } = await client.get(`/queue/api/${path}`);
    assert.deepEqual([status, refused.code], [503, "aborted"], path);
  }
  const write = await client.send("POST", "/queue/api/jobs", {
    headers: { "content-type": "application/json", "x-worker-admin-csrf": body.csrf_token },
    body: '{"identifier":"late"}',
  });
  assert.deepEqual([write.status, write.body.code], [503, "aborted"]);
  const sql = "select from worker._private_tasks where identifier = 'late'";
  assert.equal((await pool.query(sql)).rowCount, 0);
  server.close();
  await once(server, "close");
});

test("If the application has already read the body, the handler answers with 500 and advice.", async () => {
  const { admin, client, server } = await application("none");
  const { body } = await client.get("/queue/api/session");
  const answer = await client.send("POST", "/taken", {
    headers: { "content-type": "application/json", "x-worker-admin-csrf": body.csrf_token },
    body: "{}",
  });
  assert.equal(answer.status, 500);
  assert.match(answer.body.error, /mount the admin before body parsers/);
  await admin.close();
  server.close();
});

test("A short secret is refused, because other machines may reach the server.", () => {
  const config = adminServerConfig(pool).auth({ mode: "bearer", token: "short" }).build();
  assert.throws(() => createAdminHandler(config), /auth: must have at least 12 characters/);
  const scraped = adminServerConfig(pool).auth({ mode: "none" }).metricsToken("short").build();
  assert.throws(
    () => createAdminHandler(scraped),
    /metricsToken: must have at least 12 characters/,
  );
});

test("Without a login the handler refuses requests that a proxy has forwarded to the application.", async () => {
  const { admin, client, server } = await application("none");
  const forwarded = await client.send("GET", "/queue/api/session", {
    headers: { "x-forwarded-for": "192.0.2.1" },
  });
  assert.deepEqual([forwarded.status, forwarded.body.code], [403, "proxy"]);
  assert.equal((await client.get("/queue/api/session")).status, 200);
  await admin.close();
  server.close();
});

test("The application's login receives the original request, with what middleware has added to it.", async () => {
  const { admin, client, server } = await application({
    mode: "custom",
    authenticate: (request) => {
      const { session } = request as { readonly session?: { readonly user: string } };
      return session === undefined ? null : { name: session.user };
    },
  });
  server.prependListener("request", (request) => {
    if (request.headers.cookie === "session=1")
      Object.assign(request, { session: { user: "ana" } });
  });
  assert.equal((await client.get("/queue/")).status, 401);
  const headers = { cookie: "session=1" };
  assert.equal((await client.send("GET", "/queue/", { headers })).text, "page");
  const { body } = await client.send("GET", "/queue/api/session", { headers });
  assert.equal(body.auth.username, "ana");
  assert.equal(admin.generatedSecret, null);
  await admin.close();
  server.close();
});

test("On the application's unix socket, client and user are those that a trusted proxy names.", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "wk-handler-"));
  const path = join(folder, "socket");
  const audited: { by: string | null; client: string | null }[] = [];
  const config = adminServerConfig(pool)
    .auth({ mode: "bearer", token: TOKEN })
    .trustedProxies(["unix:"])
    .userHeader("x-user")
    .onAudit((entry) => void audited.push(entry))
    .build();
  const admin = createAdminHandler(config, { assets: async () => testAssets });
  const server = http.createServer(admin).listen(path);
  await once(server, "listening");
  t.after(async () => {
    await admin.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const headers = {
    ...{ authorization: `Bearer ${TOKEN}`, "x-user": "ana", "x-forwarded-for": "198.51.100.7" },
    "content-type": "application/json",
  };
  const send = async (method: string, target: string, more: object, body = "") => {
    const given = { ...headers, ...more };
    const request = http.request({ socketPath: path, method, path: target, headers: given });
    request.end(body);
    const [response] = await once(request, "response");
    return JSON.parse(await text(response));
  };
  const { csrf_token: csrf, auth } = await send("GET", "/api/session", {});
  assert.equal(auth.username, "ana");
  await send("POST", "/api/jobs", { "x-worker-admin-csrf": csrf }, '{"identifier":"t"}');
  assert.deepEqual(
    audited.map(({ by, client }) => [by, client]),
    [["ana", "198.51.100.7"]],
  );
});

test("The handler does not change the idle timeout of the application's connections.", async (t) => {
  const { admin, server, port } = await application("none");
  t.after(async () => {
    await admin.close();
    server.closeAllConnections();
    server.close();
  });
  server.keepAliveTimeout = 0;
  server.timeout = 123_000;
  const accepted = once(server, "connection");
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const get = async (path: string) => {
    const [response] = await once(http.get({ port, path, agent }), "response");
    return text(response);
  };
  await get("/queue/api/session");
  const [socket] = await accepted;
  await get("/");
  assert.equal(socket.timeout, 123_000);
  server.keepAliveTimeout = 70_000;
  await get("/queue/api/session");
  assert.ok(socket.timeout >= 70_000 && socket.timeout < 80_000, "Node's own timeout applies");
});
