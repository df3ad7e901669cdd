// Tests an admin whose login is a function (`authenticate`) of the application: what users may do, where their names
// appear, and what happens if the function fails.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Authenticate } from "../../src/admin/access/own-login.ts";
import type { AuditEntry } from "../../src/commands/audit/audit-entry.ts";
import { connect } from "../http/raw-client.ts";
import {
  type AdminOptions,
  type Client,
  type Json,
  migratedDatabase,
  recordingLogger,
  startAdmin,
} from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["operations"]);
const HOME = { cookie: "user=ana" };
const GUEST = { cookie: "user=guest" };

/** The application's login: the cookie `user` contains the user's name. The user "guest" may only read. */
const byCookie: Authenticate = async ({ headers }) => {
  const [, name] = /^user=(.+)$/.exec(headers.cookie ?? "") ?? [];
  return name === undefined ? null : { name, readOnly: name === "guest" };
};

function withLogin(authenticate: Authenticate, options: AdminOptions = {}) {
  const configure: AdminOptions["configure"] = (builder) =>
    builder.auth({ mode: "custom", authenticate });
  return startAdmin({ url, configure, ...options });
}

async function sessionOf(client: Client, headers: Record<string, string>): Promise<Json> {
  return (await client.send("GET", "/api/session", { headers })).body;
}

/** Sends a POST with the CSRF token of the user's session. */
async function post(client: Client, headers: Record<string, string>, path: string, body: object) {
  const { csrf_token: token } = await sessionOf(client, headers);
  const all = { ...headers, "content-type": "application/json", "x-worker-admin-csrf": token };
  return client.send("POST", path, { headers: all, body: JSON.stringify(body) });
}

test("The application's login is called for each request that needs a login, and not for /healthz; if the function returns null, the answer is a 401 without a challenge.", async () => {
  const calls: (string | undefined)[] = [];
  const { client } = await withLogin((request, { signal }) => {
    assert.equal(signal.aborted, false);
    calls.push(request.url);
    return byCookie(request, { signal });
  });
  for (const path of ["/", "/assets/admin.js", "/api/session", "/api/jobs", "/metrics"]) {
    const stranger = await client.get(path);
    assert.equal(stranger.status, 401, path);
    assert.equal(stranger.headers["www-authenticate"], undefined);
    assert.equal(stranger.body.auth.mode, "custom");
    assert.equal((await client.send("GET", path, { headers: HOME })).status, 200, path);
    assert.deepEqual(calls.splice(0), [path, path]);
  }
  assert.equal((await client.get("/healthz")).status, 200);
  assert.deepEqual(calls, []);
});

test("A user's name is in the session, the audit trail, Activity, operations and the log.", async () => {
  const { logger, lines } = recordingLogger();
  const audited: AuditEntry[] = [];
  const { client } = await withLogin(byCookie, {
    logger,
    onAudit: (entry) => void audited.push(entry),
  });
  const { auth } = await sessionOf(client, HOME);
  assert.deepEqual([auth.mode, auth.username], ["custom", "ana"]);
  for (let n = 0; n < 5; n++) {
    assert.equal((await post(client, HOME, "/api/jobs", { identifier: "named" })).status, 200);
  }
  const rehearsal = await post(client, HOME, "/api/operations", {
    ...{ q: "task:named", action: "run-now", dry_run: true },
  });
  const started = await post(client, HOME, "/api/operations", {
    ...{ rehearsal: rehearsal.body.rehearsal, rate: 1 },
  });
  assert.equal(started.status, 202, started.text);
  const ben = { cookie: "user=ben" };
  const paused = await post(client, ben, `/api/operations/${started.body.id}/pause`, {});
  assert.equal(paused.status, 200, paused.text);
  const operation = await client.send("GET", `/api/operations/${started.body.id}`, {
    headers: HOME,
  });
  assert.equal(operation.body.by, "ana");
  const { body: activity } = await client.send("GET", "/api/activity", { headers: HOME });
  const users = activity.entries.map(({ action, by }: Json) => [action, by]);
  assert.deepEqual(users.slice(0, 3), [
    ["operation.pause", "ben"],
    ["run-now", "ana"],
    ["add", "ana"],
  ]);
  assert.deepEqual([audited[0]?.action, audited[0]?.by], ["add", "ana"]);
  const [line] = lines.filter(({ message }) => message === "write request");
  assert.deepEqual([line?.fields.user, line?.fields.route], ["ana", "/api/jobs"]);
});

test("A write by a read-only user is answered with 403; other users of the same admin may write.", async () => {
  const { client } = await withLogin(byCookie);
  assert.equal((await sessionOf(client, GUEST)).read_only, true);
  assert.equal((await sessionOf(client, HOME)).read_only, false);
  for (const path of ["/api/jobs", "/api/maintenance", "/api/operations", "/api/jobs/action"]) {
    const { status, body } = await post(client, GUEST, path, {});
    assert.deepEqual([status, body.code], [403, "read_only"], path);
    assert.equal((await post(client, HOME, path, {})).status, 400, path);
  }
});

test("A write by a user of the application needs the CSRF token, too.", async () => {
  const { client } = await withLogin(byCookie);
  const headers = { ...HOME, "content-type": "application/json" };
  const { status, body } = await client.send("POST", "/api/jobs", { headers, body: "{}" });
  assert.deepEqual([status, body.code], [403, "csrf"]);
});

test("Processes with the same secret have the same CSRF token; a process with another secret has another token.", async () => {
  const admin = (secret: string) =>
    startAdmin({
      url,
      configure: (builder) =>
        builder.auth({ mode: "custom", authenticate: byCookie, secret: `${secret}-of-12-chars` }),
    });
  const tokens: string[] = [];
  for (const secret of ["one", "one", "two"]) {
    const { client } = await admin(secret);
    tokens.push((await sessionOf(client, HOME)).csrf_token);
    assert.equal(
      (await client.get("/api/session")).status,
      401,
      "a request without a login is refused",
    );
  }
  assert.equal(tokens[0], tokens[1]);
  assert.notEqual(tokens[0], tokens[2]);
});

const answers: readonly [string, unknown, string][] = [
  ["no name", {}, "its name is not a string"],
  ["nothing", undefined, "its name is not a string"],
  ["an empty name", { name: "" }, "its name is blank"],
  ["a name of spaces", { name: " \u3164\u2003" }, "its name is blank"],
  ["a long name", { name: "a".repeat(129) }, "its name has more than 128 characters"],
  ["a control character", { name: "a\nb" }, "its name contains the unprintable character U+000A"],
  ["an escape", { name: "a\u001b[2J" }, "its name contains the unprintable character U+001B"],
  ["a bidi override", { name: "a\u202eb" }, "its name contains the unprintable character U+202E"],
  ["zero-width space", { name: "a\u200bb" }, "its name contains the unprintable character U+200B"],
  ["half a surrogate", { name: "a\ud83d" }, "its name contains the unprintable character U+D83D"],
  ["a line separator", { name: "a\u2028b" }, "its name contains the unprintable character U+2028"],
  ["an invalid readOnly", { name: "ana", readOnly: "no" }, "its readOnly is not true or false"],
];

test("If the login returns an invalid user, the answer is 503, and the reason is logged at most once a minute.", async () => {
  for (const [what, answer, reason] of answers) {
    const { logger, lines } = recordingLogger();
    const { client } = await withLogin((() => answer) as unknown as Authenticate, { logger });
    for (let n = 0; n < 3; n++) {
      const { status, body, text } = await client.get("/api/session");
      assert.deepEqual([status, body.code], [503, "login_invalid"], what);
      assert.doesNotMatch(text, /its name|its readOnly/);
    }
    const warned = lines.filter(({ level }) => level === "warn");
    assert.deepEqual(
      warned.map(({ fields }) => [fields.cause, fields.inner]),
      [["login_invalid", reason]],
      what,
    );
  }
});

test("Names of 128 printable characters of any script are accepted.", async () => {
  for (const name of ["a".repeat(128), "\u{1F600}".repeat(128), "Zoë Ångström", "李小龍", "אבג"]) {
    const { client } = await withLogin(() => ({ name }));
    assert.equal((await sessionOf(client, {})).auth.username, name);
  }
});

test("If the login throws or rejects, the answer is 503. The error is logged at most once a minute, and not sent to the client.", async () => {
  const failing: Authenticate[] = [
    () => {
      throw new Error("the session store is away");
    },
    () => Promise.reject(new Error("the session store is away")),
  ];
  for (const authenticate of failing) {
    const { logger, lines } = recordingLogger();
    const { client } = await withLogin(authenticate, { logger });
    for (let n = 0; n < 3; n++) {
      const { status, body, headers, text } = await client.get("/api/jobs");
      assert.deepEqual([status, body.code, headers["retry-after"]], [503, "login_failed", "2"]);
      assert.doesNotMatch(text, /session store/);
    }
    const warned = lines.filter(({ level }) => level === "warn");
    assert.deepEqual(
      warned.map(({ fields }) => fields.inner),
      ["the session store is away"],
    );
  }
});

test("If the login takes too long, the answer is 503, and the signal of the login aborts. If the client disconnects earlier, the signal aborts at once.", async () => {
  const signals: AbortSignal[] = [];
  const never: Authenticate = (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const { client } = await withLogin(never, { login: { timeoutMs: 50 } });
  const { status, body } = await client.get("/api/session");
  assert.deepEqual([status, body.code, signals[0]?.aborted], [503, "login_timeout", true]);
  const patient = await withLogin(never);
  const viewer = await connect(patient.port);
  viewer.socket.write("GET /api/session HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (signals.length < 2) await new Promise(setImmediate);
  const aborted = once(signals[1] as AbortSignal, "abort");
  viewer.socket.destroy();
  await aborted;
});

test("An event stream ends once its user is no longer logged in, or the login throws for this user; other streams continue.", async () => {
  const { logger, lines } = recordingLogger();
  const out = new Set<string>();
  const checked: (() => void)[] = [];
  const authenticate: Authenticate = async (request, options) => {
    const user = await byCookie(request, options);
    if (user?.name === "staying") for (const resolve of checked.splice(0)) resolve();
    if (user?.name === "failing" && out.has("failing")) throw new Error("the store is away");
    return user === null || out.has(user.name) ? null : user;
  };
  const { port } = await withLogin(authenticate, { logger, login: { recheckMs: 20 } });
  const watch = async (name: string) => {
    const viewer = await connect(port);
    viewer.socket.write(
      `GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: user=${name}\r\n\r\n`,
    );
    await viewer.received(/event: overview/);
    return viewer;
  };
  const [leaving, failing, staying] = [
    await watch("leaving"),
    await watch("failing"),
    await watch("staying"),
  ];
  out.add("leaving").add("failing");
  assert.match(await leaving.end(), /\n\n$/);
  assert.match(await failing.end(), /\n\n$/);
  const [line] = lines.filter(({ level }) => level === "warn");
  assert.deepEqual([line?.fields.cause, line?.fields.inner], ["login_failed", "the store is away"]);
  for (let n = 0; n < 2; n++) await new Promise<void>((resolve) => checked.push(resolve));
  assert.equal(staying.socket.closed, false);
  staying.socket.destroy();
});
