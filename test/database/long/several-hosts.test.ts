// Tests connection strings with several hosts. A new connection uses the first host that responds and matches
// target_session_attrs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLogger } from "../../../src/base/logger.ts";
import { Outage } from "../../../src/base/outage.ts";
import { Client } from "../../../src/database/connection/client.ts";
import { Listener } from "../../../src/database/connection/listener.ts";
import { boundedQueryable, createPool } from "../../../src/database/connection/pool.ts";
import { attemptsOf, recordFailure } from "../../../src/database/connection/server/attempts.ts";
import { serverSettings } from "../../../src/database/connection/server/server-settings.ts";
import { query } from "../../../src/database/database.ts";
import { serverAccount } from "../../../src/database/embedded/account.ts";
import { startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { worker } from "../../cli/command.ts";
import { TEST_SETTINGS } from "../../support/database-server.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { freePort } from "../../support/tls-server.ts";
import { waitUntil } from "../../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-hosts-"));
chmodSync(folder, 0o755);
const account = serverAccount();
const start = (name: string, settings = {}) =>
  startEmbeddedServer({
    dataDir: join(folder, name),
    settings: { ...TEST_SETTINGS, ...settings },
  });
const seed = await start("primary");
await seed.stop();
cpSync(join(folder, "primary"), join(folder, "standby"), { recursive: true });
const copy = join(folder, "standby", "cluster");
writeFileSync(join(copy, "standby.signal"), "");
chmodSync(copy, 0o700);
if (account !== null) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, copy]);
const primary = await start("primary");
const standby = await start("standby", { hot_standby: "on" });
const away = await freePort();
after(async () => {
  await primary.stop();
  await standby.stop();
  rmSync(folder, { recursive: true, force: true });
});

// The unix sockets of the two servers, and a port of this machine at which nothing listens.
const hosts = { primary: primary.connection, standby: standby.connection };
const unreachable = { host: "127.0.0.1", port: away };
function url(order: readonly { host: string; port: number }[], more = ""): string {
  const list = (name: "host" | "port") => order.map((one) => one[name]).join(",");
  return `host='${list("host")}' port=${list("port")} user=postgres dbname=postgres ${more}`;
}

const readOnly = { statementTimeoutMs: 5_000, lockTimeoutMs: 5_000, readOnly: true };

async function reached(connectionString: string): Promise<string> {
  const pool = createPool({ connectionString, logger: silentLogger });
  try {
    const [row] = await query<{ standby: boolean }>(
      { client: boundedQueryable(pool, readOnly), schema: schemaName() },
      () => "select pg_is_in_recovery() as standby",
    );
    return row?.standby ? "standby" : "primary";
  } catch (error) {
    return (error as Error).message;
  } finally {
    await pool.end();
  }
}

test("The first host that responds is used, and unreachable ones are skipped.", async () => {
  assert.equal(await reached(url([unreachable, hosts.standby, hosts.primary])), "standby");
  assert.equal(await reached(url([unreachable, hosts.primary, hosts.standby])), "primary");
});

test("target_session_attrs finds the matching server.", async () => {
  const both = [unreachable, hosts.standby, hosts.primary];
  const wanted = {
    any: "standby",
    "read-write": "primary",
    primary: "primary",
    standby: "standby",
    "read-only": "standby",
    "prefer-standby": "standby",
  };
  for (const [target, expected] of Object.entries(wanted)) {
    assert.equal(await reached(url(both, `target_session_attrs=${target}`)), expected, target);
  }
  const alone = url([hosts.primary], "target_session_attrs=prefer-standby");
  assert.equal(await reached(alone), "primary");
});

test("If no server matches, the error names each server and the reason why it is not used.", async () => {
  const message = await reached(url([unreachable, hosts.standby], "target_session_attrs=primary"));
  assert.match(message, /^no server is primary, as target_session_attrs requires \(/);
  assert.match(message, /127\.0\.0\.1:\d+: connect ECONNREFUSED.*; .* is a standby\)$/);
  // This also tests that the connection to the standby is closed: an open connection would keep the process alive.
  const order = url([hosts.standby], "target_session_attrs=primary");
  const ran = await worker(["status", "--database-url", order]);
  assert.equal(ran.status, 1, ran.stderr);
  assert.match(ran.stderr, /^worker: no server is primary/);
});

test("If all servers are unreachable, the error names them all.", async () => {
  const message = await reached(url([unreachable, { host: "/nowhere", port: 5432 }]));
  assert.match(message, /^cannot reach PostgreSQL \(127\.0\.0\.1:\d+: .*; \/nowhere:5432: /);
});

test("If a server refuses the login, no other server is tried.", async () => {
  await using proxy = await tcpProxy(primary.url());
  const port = Number(new URL(proxy.url).port);
  const order = url([hosts.primary, { host: "127.0.0.1", port }]).replace(
    "dbname=postgres",
    "dbname=absent",
  );
  assert.match(await reached(order), /database "absent" does not exist/);
  assert.equal(proxy.accepted, 0);
});

test("If a host accepts connections but does not respond, the next one is used.", async () => {
  await using proxy = await tcpProxy(primary.url());
  proxy.mute();
  const port = Number(new URL(proxy.url).port);
  const order = url([{ host: "127.0.0.1", port }, hosts.primary], "connect_timeout=2");
  assert.equal(await reached(order), "primary");
});

test("A statement waits for its connection as long as connect_timeout permits, so that the next host can be reached.", {
  timeout: 30_000,
}, async () => {
  await using proxy = await tcpProxy(primary.url());
  proxy.mute();
  const port = Number(new URL(proxy.url).port);
  const order = url([{ host: "127.0.0.1", port }, hosts.primary], "connect_timeout=11");
  assert.equal(await reached(order), "primary");
});

test("A host that did not respond is tried last for a while, so that only the first connection waits for it.", async () => {
  await using proxy = await tcpProxy(standby.url());
  proxy.mute();
  const port = Number(new URL(proxy.url).port);
  const order = url([{ host: "127.0.0.1", port }, hosts.primary], "connect_timeout=2");
  const server = serverSettings(order, {});
  const tried = async (): Promise<number> => {
    const client = new Client({ server });
    await client.connect();
    await client.end();
    return proxy.accepted;
  };
  assert.deepEqual([await tried(), await tried(), await tried()], [1, 1, 1]);
});

test("If a host did not respond, later connections wait less than connect_timeout for it.", {
  timeout: 30_000,
}, async () => {
  await using proxy = await tcpProxy(standby.url());
  proxy.mute();
  const port = Number(new URL(proxy.url).port);
  const order = [{ host: "127.0.0.1", port }, hosts.standby];
  const server = serverSettings(url(order, "connect_timeout=60 target_session_attrs=primary"), {});
  const [first] = attemptsOf(server);
  if (first !== undefined) recordFailure(first, new Error("timeout expired"));
  await assert.rejects(new Client({ server }).connect(), /a standby.*timeout expired/);
});

test("A connection begins with the first host if this host has not failed, and an abandoned connection tries no further host.", async () => {
  await using proxy = await tcpProxy(primary.url());
  const port = Number(new URL(proxy.url).port);
  const server = serverSettings(url([{ host: "127.0.0.1", port }, hosts.standby]), {});
  const first = new Client({ server });
  await first.connect();
  await first.end();
  assert.equal(proxy.accepted, 1);
  proxy.mute();
  const second = new Client({ server });
  const connecting = assert.rejects(second.connect());
  second.abandon();
  await connecting;
});

test("A listener and the command line accept several hosts, too.", async () => {
  const connectionString = url(
    [unreachable, hosts.standby, hosts.primary],
    "target_session_attrs=read-write",
  );
  const listener = new Listener({
    connection: { server: serverSettings(connectionString, {}) },
    channels: { news: () => {} },
    onReconnect: () => {},
    outage: new Outage(silentLogger),
  });
  await listener.start();
  await listener.stop();
  const { status, stderr } = await worker(["migrate", "--database-url", connectionString]);
  assert.deepEqual([status, stderr], [0, ""]);
  const variables = {
    PGHOST: hosts.primary.host,
    PGPORT: String(hosts.primary.port),
    PGUSER: "postgres",
    PGDATABASE: "postgres",
  };
  const shown = await worker(["status", "--json"], variables);
  assert.deepEqual([shown.status, shown.stderr], [0, ""]);
});

test("If a server becomes read-only, a read-write connection ends after its next write, or fails when it is proved.", async () => {
  const wanting = async (target: string) => {
    const server = serverSettings(url([hosts.primary], `target_session_attrs=${target}`), {});
    const client = new Client({ server });
    await client.connect();
    return { client, ended: once(client, "end") };
  };
  const [writer, matched, anybody] = [
    await wanting("read-write"),
    await wanting("read-write"),
    await wanting("any"),
  ];
  const write = { text: "create table if not exists written ()" };
  await writer.client.query(write);
  await matched.client.prove();
  await anybody.client.query("alter system set default_transaction_read_only = on");
  await anybody.client.query("select pg_reload_conf()");
  try {
    const refused = async ({ client }: { client: Client }) =>
      client.query(write).then(
        () => false,
        ({ code }) => code === "25006",
      );
    await waitUntil("the server refuses writes", () => refused(anybody));
    // The server may apply the setting to the writer's session later than to other sessions. The first refused write
    // ends the writer's session.
    await waitUntil("the server refuses a write on the read-write connection, too", () =>
      refused(writer),
    );
    await writer.ended;
    await waitUntil("the check of the other read-write connection fails", () =>
      matched.client.prove().then(
        () => false,
        ({ message }) => message === "read-only",
      ),
    );
    await anybody.client.prove();
  } finally {
    await anybody.client.query("alter system reset default_transaction_read_only");
    await anybody.client.query("select pg_reload_conf()");
    await matched.client.end();
    await anybody.client.end();
  }
});
