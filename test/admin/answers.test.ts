// Tests what applies to all answers of the admin: headers, refusals in mode none, log lines, and internal errors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "../../src/admin/routes.ts";
import { rawExchange, statuses } from "../http/raw-client.ts";
import {
  type Answer,
  PASSWORD,
  recordingLogger,
  rightCredentials,
  startAdmin,
  TOKEN,
  wrongCredentials,
} from "./admin-harness.ts";

const always = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

function checkHeaders({ headers, status }: Answer, what: string, cache = "no-store") {
  for (const [name, value] of Object.entries(always)) {
    assert.equal(headers[name], value, `${name} of ${what}`);
  }
  assert.ok(String(headers["content-security-policy"]).startsWith(contentSecurityPolicy), what);
  assert.equal(headers["cache-control"], cache, `cache-control of ${what} (${status})`);
  assert.match(String(headers["x-request-id"]), /^[0-9a-f-]{36}$/, what);
  for (const name of Object.keys(headers)) {
    assert.doesNotMatch(name, /^(access-control-.*|x-powered-by|server|set-cookie)$/, what);
  }
}

test("Every answer of every route, including refusals, has the security headers and a request id.", async () => {
  const { client } = await startAdmin({ mode: "basic" });
  for (const { method, path, access } of routes) {
    const cache = access === "asset" ? "public, max-age=3600" : "no-store";
    const body = method === "POST" ? { body: "{}" } : {};
    const refused = await client.send(method, path, body);
    checkHeaders(refused, `${method} ${path} without credentials`);
    const headers = rightCredentials.basic;
    const answer = await client.send(method, path, { headers, ...body });
    checkHeaders(answer, `${method} ${path}`, cache);
    checkHeaders(await client.send("PUT", path, { headers }), `PUT ${path}`);
  }
  checkHeaders(await client.get("/nothing"), "an unknown path");
});

test("An invalid request is answered with the security headers of a valid one.", async () => {
  const { port } = await startAdmin();
  for (const [bytes, status] of [
    ["nonsense\r\n\r\n", 400],
    ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const text = await rawExchange(port, bytes);
    assert.deepEqual(statuses(text), [status]);
    const headers = Object.fromEntries(
      (text.split("\r\n\r\n")[0] ?? "")
        .split("\r\n")
        .slice(1)
        .map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
        }),
    );
    checkHeaders({ headers, status, text, body: null }, bytes.slice(0, 30));
  }
});

test("In mode none a foreign Host is refused on every path.", async () => {
  const { client, port } = await startAdmin({ mode: "none" });
  const get = (path: string, host: string) => client.send("GET", path, { headers: { host } });
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.localhost",
    "localhost.",
    "0.0.0.0",
    "192.168.0.1",
    "[::ffff:127.0.0.1]",
    "[::]",
    "2130706433",
    "",
  ]) {
    for (const path of ["/", "/api/session", "/healthz", "/nothing", "/assets/admin.js"]) {
      const { status, body } = await get(path, host);
      assert.deepEqual([status, body.code], [403, "host"], `${path} on ${host}`);
    }
  }
  for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1", `127.0.0.1:${port}`, "[::1]:80"]) {
    assert.equal((await get("/api/session", host)).status, 200, host);
  }
  const absolute = `GET http://evil.example/api/session HTTP/1.1\r\nHost: localhost\r\n`;
  assert.deepEqual(
    statuses(await rawExchange(port, `${absolute}Connection: close\r\n\r\n`)),
    [403],
  );
  const old = await rawExchange(port, "GET /api/session HTTP/1.0\r\n\r\n");
  assert.deepEqual(statuses(old), [403]);
});

test("In mode none a request through a proxy or by HTTP/1.0 is refused on every path.", async () => {
  const { client, port } = await startAdmin({ mode: "none" });
  for (const name of [
    ...["Via", "Forwarded", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Proto"],
    ...["X-Forwarded-Host", "x-forwarded-server", "X-FORWARDED-PREFIX", "X-Forwarded"],
  ]) {
    for (const path of ["/", "/api/session", "/healthz", "/nothing", "/assets/admin.js"]) {
      const { status, body } = await client.send("GET", path, { headers: { [name]: "" } });
      assert.deepEqual([status, body.code], [403, "proxy"], `${path} with ${name}`);
      assert.match(body.error, /has no login, so it serves no proxy/);
    }
  }
  const old = await rawExchange(port, "GET /api/session HTTP/1.0\r\nHost: localhost\r\n\r\n");
  assert.deepEqual(statuses(old), [403]);
  assert.match(old, /"code":"proxy"/);
  const { client: other } = await startAdmin({ mode: "bearer" });
  const headers = { via: "1.1 proxy", ...rightCredentials.bearer };
  assert.equal((await other.send("GET", "/api/session", { headers })).status, 200);
});

test("The log has a line for every write, with its user, route and counts, and without secrets.", async () => {
  const { logger, lines } = recordingLogger();
  const { client } = await startAdmin({ mode: "basic", logger });
  const login = rightCredentials.basic;
  const session = (await client.send("GET", "/api/session", { headers: login })).body;
  const headers = {
    ...login,
    "content-type": "application/json",
    "x-worker-admin-csrf": session.csrf_token,
  };
  const write = (path: string, body: string) => client.send("POST", path, { headers, body });
  await write("/api/jobs", '{"identifier":"logged","payload":"payload-is-private"}');
  await write("/api/jobs/action", '{"action":"complete","ids":[1,2,3]}');
  await client.send("POST", "/api/jobs", { headers: wrongCredentials.basic, body: "{}" });
  await client.send("GET", "/api/overview", { headers: login });
  const writes = lines.filter(({ message }) => message === "write request");
  const refused = lines.find(({ level }) => level === "warn")?.fields;
  assert.deepEqual(
    [refused.refused, refused.route, refused.status],
    ["wrong_login", "/api/jobs", 401],
  );
  assert.deepEqual(
    writes.map(({ level, fields: { user, route, status, code, ids, changed } }) => ({
      level,
      user,
      route,
      status,
      code,
      ids,
      changed,
    })),
    [
      {
        level: "info",
        user: "operator",
        route: "/api/jobs",
        status: 200,
        code: undefined,
        ids: 1,
        changed: undefined,
      },
      {
        level: "info",
        user: "operator",
        route: "/api/jobs/action",
        status: 200,
        code: undefined,
        ids: 3,
        changed: 1,
      },
    ],
  );
  assert.ok(
    lines.some(({ level, fields }) => level === "debug" && fields.route === "/api/overview"),
  );
  const everything = JSON.stringify(lines);
  for (const secret of [
    PASSWORD,
    TOKEN,
    session.csrf_token,
    "payload-is-private",
    ...Object.values(login),
  ]) {
    assert.ok(!everything.includes(secret));
  }
});

test("After an internal error the client receives an id and no details; the log has the details under this id.", async () => {
  const { logger, lines } = recordingLogger();
  const { client, pool } = await startAdmin({ logger });
  await pool.query(`
    create function fails() returns trigger
    language plpgsql as $$ begin raise exception 'inside-detail'; end $$;
    create trigger fails before delete on worker._private_jobs execute function fails()`);
  const answer = await client.post("/api/jobs/remove-by-key", { key: "x" });
  assert.equal(answer.status, 500, answer.text);
  assert.ok(!answer.text.includes("inside-detail"));
  const id = String(answer.headers["x-request-id"]);
  assert.ok(answer.body.error.includes(id));
  const logged = lines.find(({ level, fields }) => level === "error" && fields.request === id);
  assert.match(JSON.stringify(logged), /inside-detail/);
});
