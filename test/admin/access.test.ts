// Tests the access rules of the admin. For each login mode (in `npm test` for two modes), read-only and read-write, a
// test sends requests to every route of the route table, so new routes are tested, too. The requests have absent, wrong
// or right credentials. Each write is sent with every state of the CSRF token.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdminRoute } from "../../src/admin/context/admin.ts";
import { routes } from "../../src/admin/routes.ts";
import { rawExchange, statuses } from "../http/raw-client.ts";
import { members } from "../support/rounds.ts";
import {
  authOptions,
  type Mode,
  migratedDatabase,
  PASSWORD,
  type RequestOptions,
  recordingLogger,
  rightCredentials,
  startAdmin,
  type TestAdmin,
  TOKEN,
  wrongCredentials,
} from "./admin-harness.ts";

const modes: Mode[] = ["basic", "bearer", "header", "custom", "none"];
const credentialStates = ["absent", "wrong", "right"] as const;
const csrfStates = ["missing", "wrong", "foreign", "cross-site", "same-site", "right"] as const;
type CredentialState = (typeof credentialStates)[number];
type CsrfState = (typeof csrfStates)[number];

test("A route has the access 'write' exactly if its method is not GET.", () => {
  for (const { method, access, path } of routes) {
    assert.equal(access === "write", method !== "GET", `${method} ${path}`);
  }
});

test("Only the probes have the access 'open', which needs no credentials in any mode.", () => {
  const open = routes.filter(({ access }) => access === "open").map(({ path }) => path);
  assert.deepEqual(open, ["/healthz", "/readyz"]);
});

/** Returns the status and code of the expected refusal; null if the request must reach the route's handler. */
function expected(
  { access }: AdminRoute,
  mode: Mode,
  credentials: CredentialState,
  readOnly: boolean,
  csrf: CsrfState,
): string | null {
  // No request of this test has a ticket. Without a ticket, the route refuses even a request with right credentials.
  if (access === "ticket") return "403 ticket";
  const needsCredentials =
    mode !== "none" &&
    access !== "open" &&
    (["read", "metrics", "write"].includes(access) || mode === "basic" || mode === "custom");
  if (needsCredentials && credentials !== "right") return "401 unauthorized";
  if (access !== "write") return null;
  if (readOnly) return "403 read_only";
  return csrf === "right" ? null : "403 csrf";
}

function csrfHeaders(state: CsrfState, token: string, foreignToken: string) {
  switch (state) {
    case "missing":
      return {};
    case "wrong":
      return { "x-worker-admin-csrf": `${token}x` };
    case "foreign":
      return { "x-worker-admin-csrf": foreignToken };
    case "cross-site":
      return { "x-worker-admin-csrf": token, "sec-fetch-site": "cross-site" };
    case "same-site":
      return { "x-worker-admin-csrf": token, "sec-fetch-site": "same-site" };
    case "right":
      return { "x-worker-admin-csrf": token };
    default:
      return state satisfies never;
  }
}

for (const mode of members(modes, ["basic", "none"])) {
  for (const readOnly of [false, true]) {
    const kind = readOnly ? "read-only" : "read-write";
    test(`Every route follows its access rules in mode ${mode}, ${kind}.`, async () => {
      const { url } = await migratedDatabase();
      const [admin, foreign] = [
        await startAdmin({ mode, readOnly, url }),
        await startAdmin({ url }),
      ];
      const login = { headers: rightCredentials[mode] };
      const session = await admin.client.send("GET", "/api/session", login);
      const other = await foreign.client.get("/api/session");
      const token: string = session.body.csrf_token;
      const foreignToken: string = other.body.csrf_token;
      assert.notEqual(token, foreignToken);

      const mistakes: string[] = [];
      for (const route of routes) {
        for (const credentials of credentialStates) {
          for (const csrf of route.access === "write" ? csrfStates : (["missing"] as const)) {
            const options: RequestOptions = {
              headers: {
                ...(credentials === "right" ? rightCredentials[mode] : {}),
                ...(credentials === "wrong" ? wrongCredentials[mode] : {}),
                ...csrfHeaders(csrf, token, foreignToken),
                ...(route.method === "POST" ? { "content-type": "application/json" } : {}),
              },
              ...(route.method === "POST" ? { body: "{}" } : {}),
            };
            const path = route.path.replace("{id}", "1");
            const answer = await admin.client.send(route.method, path, options);
            const code = answer.text.startsWith("{") ? answer.body.code : undefined;
            const refused = [401, 403, 429].includes(answer.status);
            const seen =
              refused || answer.headers["www-authenticate"] ? `${answer.status} ${code}` : null;
            const wanted = expected(route, mode, credentials, readOnly, csrf);
            const where = `${route.method} ${path}, credentials ${credentials}, csrf ${csrf}`;
            if (seen !== wanted) mistakes.push(`${where}: ${seen}, not ${wanted}`);
            // A write that is not refused reaches the route's handler. The handler answers 404 if the path has an id,
            // because nothing has this id, and 400 if the path has no id, because the body `{}` is invalid.
            const reached = route.path.includes("{") ? 404 : 400;
            if (wanted === null && route.method === "POST" && answer.status !== reached) {
              mistakes.push(`${where}: ${answer.status} from the handler`);
            }
          }
        }
      }
      assert.deepEqual(mistakes, []);
    });
  }
}

test("HEAD needs the same credentials as GET, and its answer has no body.", async () => {
  const admin = await startAdmin({ mode: "bearer" });
  for (const { path, method, access } of routes) {
    if (method !== "GET" || path.includes("{")) continue;
    const refused = await admin.client.send("HEAD", path);
    assert.equal(refused.status === 401, access === "read" || access === "metrics", path);
    const headers = rightCredentials.bearer;
    const [head, get] = [
      await admin.client.send("HEAD", path, { headers }),
      await admin.client.send("GET", path, { headers }),
    ];
    assert.equal(head.status, get.status, path);
    assert.equal(head.headers["content-type"], get.headers["content-type"], path);
    assert.equal(head.text, "");
  }
});

test("An unknown path is answered with 404, and a wrong method with 405 and Allow, even without credentials.", async () => {
  const { client } = await startAdmin({ mode: "basic" });
  const unknown = ["/nothing", "/api", "/api/jobs/", "/assets/../api/session", "//evil.example/"];
  for (const path of [...unknown, "/assets/%2e%2e/admin.css", "/assets%2fadmin.css", "/Healthz"]) {
    const { status, body } = await client.send("GET", path);
    assert.deepEqual([status, body.code], [404, "not_found"], path);
  }
  for (const [method, path, allow] of [
    ["DELETE", "/api/jobs", "GET, POST, HEAD"],
    ["GET", "/api/jobs/action", "POST"],
    ["POST", "/api/session", "GET, HEAD"],
    ["OPTIONS", "/api/jobs", "GET, POST, HEAD"],
    ["TRACE", "/", "GET, HEAD"],
    ["PUT", "/api/jobs/1", "GET, HEAD"],
  ] as const) {
    const { status, headers } = await client.send(method, path);
    assert.deepEqual([status, headers.allow], [405, allow], `${method} ${path}`);
  }
});

test("A 401 has the login details of the mode and, in the modes basic and bearer, the challenge.", async () => {
  const challenges = {
    basic: [
      'Basic realm="worker admin", charset="UTF-8"',
      { mode: "basic", header_name: null, label: null },
    ],
    bearer: ["Bearer", { mode: "bearer", header_name: null, label: null }],
    header: [undefined, { mode: "header", header_name: "x-queue-token", label: null }],
  } as const;
  for (const mode of ["basic", "bearer", "header"] as const) {
    const { client } = await startAdmin({ mode });
    const { headers, body } = await client.get("/api/session");
    assert.deepEqual([headers["www-authenticate"], body.auth], challenges[mode]);
  }
});

test("In basic authentication, user and password are UTF-8, and composed and decomposed characters count as equal.", async () => {
  const { client } = await startAdmin({ mode: "basic" });
  const offered: [string | Buffer, number][] = [
    ["operator:päss:wörd", 200],
    ["operator:päss:wörd".normalize("NFD"), 200],
    [Buffer.from("operator:päss:wörd", "latin1"), 401],
    ["operator:", 401],
    ["operator", 401],
    [":päss:wörd", 401],
    ["Operator:päss:wörd", 401],
    ["", 401],
  ];
  for (const [text, status] of offered) {
    const authorization = `basic ${Buffer.from(text).toString("base64")}`;
    const answer = await client.send("GET", "/api/session", { headers: { authorization } });
    assert.equal(answer.status, status, String(text));
  }
  for (const authorization of ["Basic", "Basic !!!", "Bearer x", "basicx", "Basic a b"]) {
    const answer = await client.send("GET", "/api/session", { headers: { authorization } });
    assert.equal(answer.status, 401, authorization);
  }
});

test("A write from another origin is refused even with the right token.", async () => {
  const { client, port } = await startAdmin();
  const token: string = (await client.get("/api/session")).body.csrf_token;
  const write = (headers: Record<string, string>) =>
    client.send("POST", "/api/jobs", {
      headers: { "content-type": "application/json", "x-worker-admin-csrf": token, ...headers },
      body: "{}",
    });
  const foreign = [
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "" },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: `http://localhost:${port}` },
    { origin: `http://127.0.0.1:${port}.evil.example` },
    { "sec-fetch-site": "cross-site", origin: `http://127.0.0.1:${port}` },
  ] as Record<string, string>[];
  for (const headers of foreign) {
    const { status, body } = await write(headers);
    assert.deepEqual([status, body.code], [403, "csrf"], JSON.stringify(headers));
  }
  const own = { origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" };
  assert.equal((await write(own)).body.code, "bad_input");
});

test("Another site can link to the admin but cannot load data or streams from it.", async () => {
  const { client } = await startAdmin();
  const read = (path: string, mode: string) =>
    client.send("GET", path, {
      headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode },
    });
  assert.equal((await read("/api/overview", "no-cors")).status, 403);
  assert.equal((await read("/api/events", "cors")).status, 403);
  assert.equal((await read("/metrics", "navigate")).status, 200);
  assert.equal((await read("/", "navigate")).status, 200);
});

test("An empty token header does not count as a failed login.", async () => {
  const { client } = await startAdmin({ mode: "header" });
  const attempt = (headers: Record<string, string>) =>
    client.send("GET", "/api/session", { headers, from: "127.0.3.1" });
  for (let attempts = 0; attempts < 50; attempts++) {
    const { status, body } = await attempt({ "x-queue-token": "" });
    assert.deepEqual([status, body.code], [401, "unauthorized"]);
    assert.doesNotMatch(body.error, /wrong/);
  }
  assert.equal((await attempt(rightCredentials.header)).status, 200);
});

test("From a network without a recent login, at most eight guesses a second are checked. Further guesses get a 429, even the right one.", async () => {
  const { client, port } = await startAdmin({ mode: "bearer" });
  const attempt = (token: string, from: string) =>
    client.send("GET", "/api/session", { headers: { authorization: `Bearer ${token}` }, from });
  assert.equal((await attempt(TOKEN, "127.0.2.9")).status, 200);
  const tokens = [...Array.from({ length: 10 }, (_, n) => `guess-${n}`), TOKEN, "guess"];
  const requests = tokens.map(
    (token) => `GET /api/session HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  const last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const text = await rawExchange(port, requests.join("") + last);
  assert.deepEqual(statuses(text), [...Array(8).fill(401), 429, 429, 429, 429, 200]);
  const refused = text.split("HTTP/1.1 429").slice(1, 5);
  const answers = refused.map((one) =>
    one.replace(/x-request-id: .*/i, "").replace(/Date: .*/i, ""),
  );
  assert.equal(new Set(answers.slice(0, 3)).size, 1);
  assert.match(text, /retry-after: 1\r\n/i);
  assert.match(text, /"code":"too_many_logins"/);
  // The login from 127.0.2.9 succeeded above, so the number of guesses from this address has no limit.
  for (let n = 0; n < 20; n++) assert.equal((await attempt("wrong", "127.0.2.9")).status, 401);
  assert.equal((await attempt(TOKEN, "127.0.2.9")).status, 200);
});

test("A forwarded address is used only if a trusted proxy sends it.", async () => {
  const { logger, lines } = recordingLogger();
  const trusting = await startAdmin({
    mode: "bearer",
    logger,
    configure: (builder) => builder.trustedProxies(["127.0.6.0/24"]),
  });
  const attempt = (from: string, headers: Record<string, string>) =>
    trusting.client.send("GET", "/api/session", {
      from,
      headers: { authorization: "Bearer guess", ...headers },
    });
  await attempt("127.0.7.1", { "x-forwarded-for": "198.51.100.1" });
  await attempt("127.0.6.1", { "x-forwarded-for": "203.0.113.9, 198.51.100.2, 127.0.6.2" });
  await attempt("127.0.6.1", { forwarded: 'for="[2001:db8::1]:99";proto=https' });
  await attempt("127.0.6.1", { "x-forwarded-for": "1.1.1.1", forwarded: "for=2.2.2.2" });
  const clients = lines.filter(({ level }) => level === "warn").map(({ fields }) => fields.client);
  assert.deepEqual(clients, ["127.0.7.1", "198.51.100.2", "2001:db8::1", "127.0.6.1"]);
});

test("Two admins with the same secret have the same CSRF token; an admin with another secret has another token.", async () => {
  const { url } = await migratedDatabase();
  const [one, two] = [
    await startAdmin({ mode: "basic", url }),
    await startAdmin({ mode: "basic", url }),
  ];
  const other = await startAdmin({
    url,
    configure: (builder) => builder.auth({ ...authOptions.basic, password: "another one" }),
  });
  const tokenOf = async ({ client }: TestAdmin, password: string) => {
    const authorization = `Basic ${Buffer.from(`operator:${password}`).toString("base64")}`;
    const { body } = await client.send("GET", "/api/session", { headers: { authorization } });
    return body.csrf_token as string;
  };
  assert.equal(await tokenOf(one, PASSWORD), await tokenOf(two, PASSWORD));
  assert.notEqual(await tokenOf(one, PASSWORD), await tokenOf(other, "another one"));
});

test("The token for metrics gives access only to the metrics.", async () => {
  for (const mode of ["basic", "bearer", "header"] as const) {
    const scraper = "scrape-scrape-scrape";
    const { client } = await startAdmin({
      mode,
      configure: (builder) => builder.metricsToken(scraper),
    });
    const send = (path: string, token: string) =>
      client.send("GET", path, { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await send("/metrics", scraper)).status, 200);
    assert.equal((await send("/metrics", `${scraper}x`)).status, 401);
    const right = await client.send("GET", "/metrics", { headers: rightCredentials[mode] });
    assert.match(right.text, /^worker_admin_logins_total\{result="wrong"\} 1$/m);
    for (const path of ["/api/session", "/api/jobs", "/api/events"]) {
      assert.equal((await send(path, scraper)).status, 401, path);
    }
  }
});
