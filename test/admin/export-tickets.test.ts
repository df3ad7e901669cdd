// Tests tickets. With a ticket, an export can be downloaded without a login, also from another admin that has the same
// secret. A ticket can be used once at each admin, or only once in total if the schema has the tables of operations.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";
import pg from "pg";
import { generatedDerivation, secretOf } from "../../src/admin/access/secret.ts";
import type { AdminServerConfigBuilder } from "../../src/admin/config/config-builder.ts";
import { createTickets, TICKET_MS } from "../../src/admin/context/export-tickets.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { exportRequest } from "../../src/insight/export/export-request.ts";
import { lockWaits } from "../support/lock-waits.ts";
import {
  type AdminOptions,
  migratedDatabase,
  recordingLogger,
  startAdmin,
  type TestAdmin,
  TOKEN,
} from "./admin-harness.ts";

// With `isShared: false`, the use of a ticket is recorded only in memory, so this database is never used.
const unused = { client: new pg.Pool(), schema: schemaName() };
const authorization = `Bearer ${TOKEN}`;

/** Starts admins with the same secret on one database with three jobs. */
async function startAdmins(
  count: number,
  extensions: readonly string[],
  options: AdminOptions = {},
): Promise<TestAdmin[]> {
  const { url } = await migratedDatabase(undefined, extensions);
  const admins: TestAdmin[] = [];
  while (admins.length < count) {
    admins.push(await startAdmin({ url, mode: "bearer", ...options }));
  }
  await admins[0]?.pool.query("insert into worker._private_tasks (identifier) values ('a')");
  await admins[0]?.pool.query(
    "insert into worker._private_jobs (task_id) select 1 from generate_series(1, 3)",
  );
  return admins;
}

async function twoAdmins(extensions: readonly string[]): Promise<[TestAdmin, TestAdmin]> {
  return (await startAdmins(2, extensions)) as [TestAdmin, TestAdmin];
}

async function oneAdmin(extensions: readonly string[], options?: AdminOptions): Promise<TestAdmin> {
  return (await startAdmins(1, extensions, options))[0] as TestAdmin;
}

async function giveTicket({ client }: TestAdmin, body: object) {
  const headers = { authorization, "content-type": "application/json" };
  const session = await client.send("GET", "/api/session", { headers });
  return client.send("POST", "/api/export/ticket", {
    headers: { ...headers, "x-worker-admin-csrf": session.body.csrf_token },
    body: JSON.stringify(body),
  });
}

async function ticketOf(admin: TestAdmin, body: object): Promise<string> {
  const answer = await giveTicket(admin, body);
  assert.equal(answer.status, 200, answer.text);
  return `/${answer.body.path}`;
}

const status = async ({ client }: TestAdmin, path: string, method = "GET") =>
  (await client.send(method, path)).status;

test("With a shared secret, a ticket that one admin has created downloads the export from another admin.", async () => {
  const [one, other] = await twoAdmins([]);
  const path = await ticketOf(one, { q: "id:2..3", format: "csv", columns: "id" });
  assert.equal(await status(one, path, "HEAD"), 200);
  assert.equal(await status(other, path, "HEAD"), 200, "a HEAD request does not use up the ticket");
  const answer = await other.client.send("GET", path);
  assert.deepEqual([answer.status, answer.text], [200, "id\r\n2\r\n3\r\n"]);
  const again = await other.client.send("GET", path);
  assert.deepEqual([again.status, again.body.code], [403, "ticket"]);
});

test("If the schema has the tables of operations, a ticket that was used at one admin is refused by all admins.", async () => {
  const admins = await twoAdmins(["operations"]);
  for (let n = 0; n < 5; n++) {
    const path = await ticketOf(admins[n % 2] as TestAdmin, { q: "" });
    const answers = [...admins, ...admins, ...admins].map((admin) => status(admin, path));
    const statuses = await Promise.all(answers);
    assert.deepEqual(statuses.toSorted(), [200, 403, 403, 403, 403, 403]);
  }
  const { rows } = await admins[0].pool.query(
    "select count(*)::int as n from worker._private_rehearsals where expires_at < now() + interval '2 hours'",
  );
  assert.equal(rows[0].n, 5, "used tickets are rows of _private_rehearsals, which expire");
});

test("A ticket is valid for a minute, if it is unchanged and was signed with the same secret.", async () => {
  let time = 1_800_000_000_000;
  const clock = () => time;
  const request = exportRequest({ q: "task:a", columns: "id" });
  const admin = async (secret: string | null) => {
    const derive = secret === null ? generatedDerivation() : await secretOf(secret).derivation();
    return createTickets({ derive, isShared: false, clock });
  };
  const [mine, same, another, open] = [
    await admin("secret"),
    await admin("secret"),
    await admin("geheim"),
    await admin(null),
  ];
  const ticket = mine.create({ request, user: "bearer" });
  assert.deepEqual(same.read(ticket)?.request, request);
  assert.equal(same.read(ticket)?.user, "bearer");
  assert.equal(another.read(ticket), null);
  assert.equal(open.read(ticket), null);
  const [body = "", mark = ""] = ticket.split(".");
  const changed = JSON.parse(Buffer.from(body, "base64url").toString());
  changed.request.q = "";
  const forged = Buffer.from(JSON.stringify(changed)).toString("base64url");
  for (const text of [
    `${forged}.${mark}`,
    `${body}.`,
    body,
    `.${mark}`,
    "",
    "..",
    `${body}.${body}`,
    `${ticket}.`,
    `${ticket}.x`,
  ]) {
    assert.equal(mine.read(text), null, text);
  }
  assert.notEqual(mine.create({ request, user: "bearer" }), ticket);
  time += TICKET_MS;
  assert.equal(await mine.read(ticket)?.use(unused), true);
  assert.equal(await mine.read(ticket)?.use(unused), false);
  time += 1;
  assert.equal(mine.read(ticket), null);
});

test("Deriving a secret from a password takes at least 50 ms of processor time, so guesses are slow.", async () => {
  const cost = async () => {
    const before = process.cpuUsage();
    await secretOf("a password").derivation();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const costs = [await cost(), await cost(), await cost()];
  assert.ok(Math.min(...costs) >= 50, `the three derivations took ${costs} ms`);
});

test("HEAD with a ticket reads nothing from the database.", async () => {
  const admin = await oneAdmin([]);
  const path = await ticketOf(admin, { q: "", format: "csv" });
  const lock = await admin.pool.connect();
  await lock.query("begin; lock table worker._private_jobs in access exclusive mode");
  const { status, headers, text } = await admin.client.send("HEAD", path);
  assert.deepEqual([status, text, headers["content-length"]], [200, "", undefined]);
  assert.match(headers["content-type"] ?? "", /^text\/csv/);
  await lock.query("rollback");
  lock.release();
  assert.equal((await admin.client.send("GET", path)).status, 200);
});

test("No line of the log contains a ticket, even if the ticket has a long query.", async () => {
  const { logger, lines } = recordingLogger();
  const admin = await oneAdmin([], { logger });
  const names = Array.from({ length: 7 }, (_, n) => `"${n}${"€".repeat(250)}"`);
  const q = `task:${names.join(",")}`;
  const path = await ticketOf(admin, { q });
  const { text, headers } = await admin.client.send("GET", path);
  assert.deepEqual([text, headers["cache-control"]], ["", "no-store"]);
  assert.equal(await status(admin, path), 403);
  assert.equal(await status(admin, `${path.slice(0, -1)}!`), 403);
  const secret = path.slice(-20);
  assert.ok(lines.length > 4);
  assert.ok(!JSON.stringify(lines).includes(secret));
});

test("A ticket stays valid when the request that uses it ends before the use is recorded.", async () => {
  const waits = (builder: AdminServerConfigBuilder) => builder.limits({ waitMs: 60_000 });
  const admin = await oneAdmin(["operations"], { configure: waits });
  const path = await ticketOf(admin, { q: "id:1", columns: "id" });
  const lock = await admin.pool.connect();
  await lock.query("begin; lock table worker._private_rehearsals in exclusive mode");
  const refused = await admin.client.send("GET", path);
  assert.deepEqual([refused.status, refused.body.code], [503, "timeout"]);
  while ((await lockWaits(lock)) > 0);
  await lock.query("rollback");
  lock.release();
  assert.equal(await status(admin, path), 200);
  assert.equal(await status(admin, path), 403);
});

test("A ticket stays valid when the jobs of its export cannot be read.", async () => {
  const admin = await oneAdmin(["operations"]);
  const path = await ticketOf(admin, { q: "id:1", columns: "id" });
  const lock = await admin.pool.connect();
  await lock.query("begin; lock table worker._private_jobs in access exclusive mode");
  const refused = await admin.client.send("GET", path);
  assert.deepEqual([refused.status, refused.body.code], [503, "database_busy"]);
  await lock.query("rollback");
  lock.release();
  assert.equal(await status(admin, path), 200);
  assert.equal(await status(admin, path), 403);
});

test("Lists, counts and exports accept a query of 3,800 characters. A ticket accepts such a query if all its characters are ASCII.", async () => {
  const admin = await oneAdmin([]);
  const long = (name: string) =>
    `task:a,${Array.from({ length: 15 }, (_, n) => `"${n}${name.repeat(250)}"`).join(",")}`;
  const q = long("x");
  assert.ok(q.length > 3_800);
  for (const route of ["jobs", "counts", "explain", "export"]) {
    const path = `/api/${route}?${new URLSearchParams({ q })}`;
    const answer = await admin.client.send("GET", path, { headers: { authorization } });
    assert.equal(answer.status, 200, route);
  }
  const { text } = await admin.client.send("GET", await ticketOf(admin, { q, columns: "id" }));
  assert.equal(text.split("\n").length, 4);
  const wide = await giveTicket(admin, { q: long("€") });
  assert.equal(wide.status, 400);
  assert.match(wide.body.error, /q: is too long for an address/);
});

test("A ticket stays valid when the maximum number of downloads is running.", async () => {
  const admin = await oneAdmin([]);
  await admin.pool.query(`insert into worker._private_jobs (task_id, payload)
    select 1, json_build_object('text', repeat('x', 10000)) from generate_series(1, 2000)`);
  const path = await ticketOf(admin, { q: "id:1", columns: "id" });
  const options = {
    ...{ host: "127.0.0.1", port: admin.port, path: "/api/export?payload=1" },
    ...{ agent: false, headers: { authorization } },
  };
  const open = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const [response] = (await once(http.get(options), "response")) as [http.IncomingMessage];
      return response.pause();
    }),
  );
  assert.equal(await status(admin, path), 503);
  assert.equal((await admin.client.send("HEAD", path)).status, 503);
  for (const response of open) response.destroy();
  let answered = 503;
  while (answered === 503) answered = await status(admin, path);
  assert.equal(answered, 200);
  assert.equal(await status(admin, path), 403);
});

test("A ticket stays valid when the database is too busy to record the use.", async () => {
  const admin = await oneAdmin(["operations"]);
  const path = await ticketOf(admin, { q: "id:1", columns: "id" });
  await admin.pool.query(`
    create function worker.busy() returns trigger language plpgsql as
      $$ begin raise exception 'busy' using errcode = '40001'; end $$;
    create trigger busy before insert on worker._private_rehearsals
      for each row execute function worker.busy()`);
  const refused = await admin.client.send("GET", path);
  assert.deepEqual([refused.status, refused.body.code], [503, "database_busy"]);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  await admin.pool.query("drop trigger busy on worker._private_rehearsals");
  assert.equal(await status(admin, path), 200);
  assert.equal(await status(admin, path), 403);
});
