// Tests the header in which a trusted proxy can name the user of a request. The name is a label, and does not replace
// the login.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, migratedDatabase, recordingLogger, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["operations"]);
const PROXY = "127.0.6.1";
const HEADER = "x-forwarded-user";
const SECRET = "long-enough-secret";

const logins = {
  basic: {
    auth: { mode: "basic", username: "operator", password: SECRET },
    headers: { authorization: `Basic ${Buffer.from(`operator:${SECRET}`).toString("base64")}` },
  },
  bearer: {
    auth: { mode: "bearer", token: SECRET },
    headers: { authorization: `Bearer ${SECRET}` },
  },
  header: {
    auth: { mode: "header", headerName: "x-token", token: SECRET },
    headers: { "x-token": SECRET },
  },
} as const;

/** Starts an admin. `trusted`: networks of trusted proxies. `send()` sends a request, with a login, from an address. */
async function start(mode: keyof typeof logins, trusted: readonly string[] = ["127.0.6.0/24"]) {
  const { logger, lines } = recordingLogger();
  const { client } = await startAdmin({
    ...{ url, logger },
    configure: (builder) =>
      builder.auth(logins[mode].auth).trustedProxies(trusted).userHeader("X-Forwarded-User"),
  });
  const send = (
    from: string,
    headers: Record<string, string | string[]>,
    path = "/api/session",
    body?: object,
  ) =>
    client.send(body === undefined ? "GET" : "POST", path, {
      from,
      headers: { ...logins[mode].headers, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { client, lines, send };
}

for (const mode of ["basic", "bearer", "header"] as const) {
  test(`In mode ${mode} only a trusted proxy can name the user in the session, the audit trail and the log.`, async () => {
    const { client, lines, send } = await start(mode);
    const named = { [HEADER]: "ana" };
    const login = mode === "basic" ? "operator" : mode;
    for (const [from, user] of [
      [PROXY, "ana"],
      ["127.0.7.1", login],
    ] as const) {
      const { auth, csrf_token: token } = (await send(from, named)).body as Json;
      assert.equal(auth.username, user === "ana" || mode === "basic" ? user : null);
      const headers = {
        ...named,
        "content-type": "application/json",
        "x-worker-admin-csrf": token,
      };
      assert.equal((await send(from, headers, "/api/jobs", { identifier: "t" })).status, 200);
      const [entry] = (await send(from, {}, "/api/activity")).body.entries;
      assert.deepEqual([entry.action, entry.by], ["add", user]);
      const line = lines.findLast(({ message }) => message === "write request");
      assert.equal(line?.fields.user, user);
    }
    const stranger = await client.send("GET", "/api/session", { from: PROXY, headers: named });
    assert.equal(stranger.status, 401, "a user name in a header is not a login");
    assert.equal((await send(PROXY, { [HEADER]: "" }, "/api/jobs")).status, 200);
  });
}

test("If no proxy is trusted, the header is ignored, and the admin logs this at the start.", async () => {
  const { lines, send } = await start("basic", []);
  const { status, body } = await send(PROXY, { [HEADER]: "\xff" });
  assert.deepEqual([status, body.auth.username], [200, "operator"]);
  assert.match(lines[0]?.message ?? "", /no proxy is trusted/);
});

test("A user name from a trusted proxy must be one printable text in UTF-8; otherwise the answer is a 400.", async () => {
  const { send } = await start("basic");
  const latin1 = (text: string) => Buffer.from(text).toString("latin1");
  const { body } = await send(PROXY, { [HEADER]: latin1("Zoë 李") });
  assert.equal(body.auth.username, "Zoë 李");
  for (const [value, problem] of [
    [latin1("a\u202eb"), "contains the unprintable character U+202E"],
    [latin1("\u3164"), "is blank"],
    ["\xff", "is not UTF-8"],
    ["a".repeat(129), "has more than 128 characters"],
    [["ana", "ben"], "has several values: the proxy must overwrite the client's header"],
  ] as const) {
    const headers = { [HEADER]: typeof value === "string" ? value : [...value] };
    const { status, body } = await send(PROXY, headers);
    assert.deepEqual([status, body.code], [400, "bad_request"]);
    assert.equal(body.error, `the user name in the header ${HEADER} ${problem}`);
  }
});
