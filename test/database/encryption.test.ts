// Tests sslmode, channel_binding and certificates with four servers: one offers encryption, one cannot encrypt, one
// accepts only encrypted connections, and one can encrypt but accepts only unencrypted connections.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { createPool } from "../../src/database/connection/pool.ts";
import { query } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { worker } from "../cli/command.ts";
import { certificate, tlsServer } from "../support/tls-server.ts";

const encrypting = await tlsServer([
  "hostssl all client 127.0.0.1/32 cert",
  "host all bound 127.0.0.1/32 scram-sha-256",
  "host all hashed 127.0.0.1/32 md5",
  "host all all 127.0.0.1/32 trust",
]);
const plain = await tlsServer(["host all all 127.0.0.1/32 trust"], false);
const strict = await tlsServer(["hostssl all all 127.0.0.1/32 trust"]);
const lax = await tlsServer(["hostnossl all all 127.0.0.1/32 trust"]);
after(async () => {
  for (const server of [encrypting, plain, strict, lax]) await server[Symbol.asyncDispose]();
});

const ca = `sslrootcert=${certificate("authority.crt")}`;
const otherCa = `sslrootcert=${certificate("another.crt")}`;

/** Connects, and returns whether the session is encrypted. After an error, returns the error's message. */
async function connects(port: number, parameters: string, host = "localhost"): Promise<unknown> {
  const connectionString = `host=${host} hostaddr=127.0.0.1 port=${port} user=postgres dbname=postgres ${parameters}`;
  const pool = createPool({ connectionString, logger: silentLogger });
  try {
    const rows = await query<{ ssl: boolean }>(
      { client: pool, schema: schemaName() },
      () => "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    );
    return rows[0]?.ssl;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await pool.end();
  }
}

test("Without sslmode, and with prefer, connections are encrypted if possible.", async () => {
  for (const mode of ["", "sslmode=prefer"]) {
    assert.equal(await connects(encrypting.port, mode), true);
    assert.equal(await connects(plain.port, mode), false);
    assert.equal(await connects(strict.port, mode), true);
    assert.equal(await connects(lax.port, mode), false);
  }
});

test("channel_binding=require binds the login to the encrypted connection, and refuses logins that cannot be bound.", async () => {
  const { port } = encrypting;
  const admin = createPool({
    connectionString: `host=127.0.0.1 port=${port} user=postgres dbname=postgres`,
    logger: silentLogger,
  });
  for (const [role, how] of [
    ["bound", "scram-sha-256"],
    ["hashed", "md5"],
  ]) {
    await admin.query(`set password_encryption = '${how}'; create role ${role} login password 'x'`);
  }
  await admin.end();
  const bound = "channel_binding=require password=x user=";
  for (const mode of ["prefer", "require", "allow"]) {
    assert.equal(await connects(port, `sslmode=${mode} ${bound}bound`), true, mode);
  }
  assert.equal(await connects(port, "sslmode=require password=x user=hashed"), true);
  for (const role of ["hashed", "postgres"]) {
    assert.match(
      String(await connects(port, `sslmode=require ${bound}${role}`)),
      /does not use SCRAM-SHA-256-PLUS, which channel_binding=require demands/,
      role,
    );
  }
  assert.match(String(await connects(plain.port, `${bound}bound`)), /does not encrypt/);
});

test("With sslmode=disable connections are never encrypted; with allow, only if the server requires encryption; with require, always.", async () => {
  assert.equal(await connects(encrypting.port, "sslmode=disable"), false);
  assert.match(String(await connects(strict.port, "sslmode=disable")), /no encryption/);
  assert.equal(await connects(encrypting.port, "sslmode=allow"), false);
  assert.equal(await connects(strict.port, "sslmode=allow"), true);
  assert.equal(await connects(encrypting.port, "sslmode=require"), true);
  assert.match(
    String(await connects(plain.port, "sslmode=require")),
    /PostgreSQL does not encrypt/,
  );
  assert.match(String(await connects(lax.port, "sslmode=require")), /SSL encryption/);
});

test("sslmode=require checks the server's certificate if an authority is configured, verify-ca needs an authority, verify-full also checks the host.", async () => {
  const { port } = encrypting;
  for (const mode of ["require", "verify-ca"]) {
    assert.equal(await connects(port, `sslmode=${mode} ${ca}`, "elsewhere"), true, mode);
    assert.match(
      String(await connects(port, `sslmode=${mode} ${otherCa}`)),
      /is not trusted/,
      mode,
    );
  }
  assert.equal(await connects(port, `sslmode=prefer ${otherCa}`), true);
  assert.equal(await connects(port, `sslmode=verify-full ${ca}`), true);
  assert.match(
    String(await connects(port, `sslmode=verify-full ${ca}`, "elsewhere")),
    /is not for the host .*altnames/,
  );
  assert.match(
    String(await connects(port, "sslmode=verify-full sslrootcert=system")),
    /is not trusted/,
  );
  assert.match(
    String(await connects(port, "sslmode=verify-ca")),
    /verify-ca needs the certificate of an authority/,
  );
  assert.match(
    String(await connects(port, `sslmode=require sslrootcert=/none`)),
    /^sslrootcert in the connection string cannot be read/,
  );
});

test("A server that requires a client certificate accepts the configured certificate, and refuses a login without it.", async () => {
  const own = `user=client sslmode=verify-full ${ca} sslcert=${certificate("client.crt")} sslkey=${certificate("client.key")}`;
  assert.match(String(await connects(encrypting.port, own)), /role "client" does not exist/);
  const without = `user=client sslmode=verify-full ${ca}`;
  assert.match(
    String(await connects(encrypting.port, without)),
    /requires a valid client certificate/,
  );
});

test("With sslnegotiation=direct a connection is encrypted from the start, without negotiation.", async () => {
  const direct = `sslmode=verify-full sslnegotiation=direct ${ca}`;
  assert.equal(await connects(encrypting.port, direct), true);
});

test("If encryption is required but the server cannot encrypt, the command reports this in one line.", async () => {
  const url = `postgres://postgres:secret@localhost:${plain.port}/postgres`;
  const { status, stderr } = await worker(["status"], { DATABASE_URL: url, PGSSLMODE: "require" });
  assert.equal(status, 1);
  assert.match(stderr, /^worker: PostgreSQL does not encrypt \(.*sslmode=disable.*\n$/);
  assert.doesNotMatch(stderr, /secret/);
});

test("A server's certificate is checked even if NODE_TLS_REJECT_UNAUTHORIZED turns Node's checks off.", async () => {
  const { port } = encrypting;
  const url = `postgres://postgres@localhost:${port}/postgres?sslmode=verify-full&${otherCa}`;
  const { status, stderr } = await worker(["status"], {
    DATABASE_URL: url,
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  });
  assert.equal(status, 1);
  assert.match(stderr, /is not trusted \([^;]*\); name the authority/);
});
