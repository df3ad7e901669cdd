// Tests the messages after PostgreSQL has refused a login, and that a refused login leaves nothing that keeps the
// process alive. Also tests logins that succeed, a server that stops responding, and a query on a closed pool.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { silentLogger } from "../../../src/base/logger.ts";
import { Outage } from "../../../src/base/outage.ts";
import { Client } from "../../../src/database/connection/client.ts";
import { Listener } from "../../../src/database/connection/listener.ts";
import { createPool } from "../../../src/database/connection/pool.ts";
import { query } from "../../../src/database/database.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { worker } from "../../cli/command.ts";
import { passwordServer } from "../../support/password-server.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { testPool } from "../../support/test-pool.ts";

const server = await passwordServer();
const folder = mkdtempSync(join(tmpdir(), "wk-pgpass-"));
after(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
// Without this, the tests would use ~/.pgpass and PGPASSWORD of the user that runs the tests.
process.env["PGPASSFILE"] = join(folder, "none");
delete process.env["PGPASSWORD"];

const sockets = () =>
  process.getActiveResourcesInfo().filter((one) => /^(Pipe|TCPSocket)Wrap$/.test(one)).length;

/** Runs failing-program.ts with a part of the library. Returns the error after the program has ended by itself. */
async function program(part: string, url: string): Promise<{ code: string; message: string }> {
  const register = join(import.meta.dirname, "../../support/register.mjs");
  const main = join(import.meta.dirname, "../../support/failing-program.ts");
  const child = spawn(process.execPath, ["--import", register, main, part, url], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 30_000,
  });
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(signal, null, "the program did not end by itself");
  return JSON.parse(output);
}

const passwordRequired =
  /^PostgreSQL requires a password for user "(scram|md5|plain)", and none was given; /;

for (const user of ["scram", "md5", "plain"]) {
  test(`Without a password for ${user} the command names the user, and ends at once.`, async () => {
    const { status, stdout, stderr } = await worker(["status"], {
      DATABASE_URL: server.url(user),
      PGPASSFILE: join(folder, "none"),
    });
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr.replace("worker: ", ""), passwordRequired);
    assert.equal(stderr.trim().split("\n").length, 1);
  });
}

for (const part of ["utils", "worker"]) {
  test(`Without a password a program with ${part} gets an error that names the user, and ends at once.`, async () => {
    const { code, message } = await program(part, server.url("scram"));
    assert.equal(code, "database_unreachable");
    assert.match(message, passwordRequired);
  });
}

test("A connection attempt that fails, at the login or before, leaves no socket open.", async () => {
  const before = sockets();
  const urls = [
    server.url("scram"),
    server.url("scram", "wrong"),
    server.url("nobody", "secret"),
    server.url("scram", "secret").replace("/postgres?", "/absent?"),
    `${server.url("scram", "secret")}&sslmode=require`,
    server.url("scram", "secret").replace(/port=\d+/, "port=1"),
  ];
  for (const connectionString of urls) {
    const client = new Client({ connectionString });
    const closed = once(client, "end");
    await assert.rejects(client.connect());
    await closed;
    // There may be fewer sockets than before, because pipes of a program that an earlier test started may close now.
    assert.ok(sockets() <= before, connectionString);
  }
});

test("With the right password in the URL or in the password file, a login by each method succeeds.", async () => {
  const file = join(folder, "pgpass");
  writeFileSync(file, "*:*:*:scram:secret\n*:*:*:md5:secret\n*:*:*:plain:secret\n", {
    mode: 0o600,
  });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  process.env["PGPASSFILE"] = file;
  try {
    for (const user of ["scram", "md5", "plain"]) {
      for (const url of [server.url(user, "secret"), server.url(user)]) {
        const pool = createPool({ connectionString: url, logger: silentLogger });
        assert.deepEqual((await pool.query("select current_user::text as me")).rows, [
          { me: user },
        ]);
        await pool.end();
      }
    }
    await new Promise(setImmediate);
    assert.deepEqual(warnings, []);
  } finally {
    process.off("warning", onWarning);
    process.env["PGPASSFILE"] = join(folder, "none");
  }
});

test("A query on an application's own pool rejects with a message about the missing password.", async () => {
  const { pool, close } = testPool(server.url("scram"));
  await assert.rejects(
    query({ client: pool, schema: schemaName() }, () => "select 1"),
    {
      code: "database_unreachable",
      message: /^PostgreSQL requires a password, and none was given/,
    },
  );
  await close();
});

test("Without a password, start() of a listener rejects with the reason, and stop() ends the listener.", async () => {
  const listener = new Listener({
    connection: { connectionString: server.url("scram") },
    channels: { news: () => {} },
    onReconnect: () => {},
    outage: new Outage(silentLogger),
  });
  await assert.rejects(listener.start(), { message: passwordRequired });
  await listener.stop();
});

test("An invalid sslmode is refused before a connection attempt, and the message contains neither its value nor the password.", async () => {
  const url = `${server.url("scram", "secret")}&sslmode=bogus`;
  const { stderr } = await worker(["status"], { DATABASE_URL: url });
  assert.match(stderr, /^worker: sslmode in DATABASE_URL must be one of disable, .*\n$/);
  assert.doesNotMatch(stderr, /secret|bogus/);
});

test("Closing a connection to a server that has stopped responding takes less than 10 s.", async () => {
  await using proxy = await tcpProxy(server.url("postgres"));
  const client = new Client({ connectionString: proxy.url });
  await client.connect();
  proxy.mute();
  const ended = await Promise.race([
    client.end().then(() => true),
    new Promise((resolve) => setTimeout(resolve, 10_000, false)),
  ]);
  assert.equal(ended, true);
});

test("A query on a closed pool rejects with a message about the pool, not about an unreachable server.", async () => {
  const pool = createPool({ connectionString: server.url("postgres"), logger: silentLogger });
  await pool.end();
  const db = { client: pool, schema: schemaName() };
  await assert.rejects(
    query(db, () => "select 1"),
    { code: "database_unreachable", message: /^the connection pool was closed by its end\(\) or / },
  );
});
