// Tests the undocumented parts of pg that src/database/pg-internals.ts uses. Run these tests after each upgrade of pg.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import {
  catchLongValues,
  endInUse,
  isPg,
  loginOnlyBy,
  loginSettingsOf,
  type MessageWriter,
  newConnection,
  onServerError,
  PgQuery,
  plainWhereRefused,
  serverProcessOf,
  stateOf,
  submitQuery,
  UNCONNECTED,
} from "../../src/database/pg-internals.ts";
import { emptyDatabase } from "../support/database.ts";
import { type PasswordServer, passwordServer } from "../support/password-server.ts";
import { freePort } from "../support/tls-server.ts";

let url: string;
let server: PasswordServer;

before(async () => {
  ({ url } = await emptyDatabase());
  server = await passwordServer();
});

after(() => server[Symbol.asyncDispose]());

async function connected(config: pg.ClientConfig & { readonly pipeline?: boolean } = {}) {
  const client = new pg.Client({ connectionString: url, ...config });
  client.on("error", () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end().catch(() => {}) });
}

test("The settings of a client, from its URL or its options, can be changed until the client connects.", async () => {
  const limited = new URL(url);
  limited.searchParams.set("statement_timeout", "1234");
  limited.searchParams.set("options", "-c lock_timeout=5");
  const client = new pg.Client({ connectionString: limited.href, query_timeout: 9 });
  const settings = loginSettingsOf(client);
  const { statement_timeout, query_timeout, options } = settings;
  assert.deepEqual(
    [Number(statement_timeout), query_timeout, options],
    [1234, 9, "-c lock_timeout=5"],
  );
  Object.assign(settings, { statement_timeout: 0, query_timeout: 0 });
  settings.options = `${options} -c lock_timeout=7s`;
  await client.connect();
  const { rows } = await client.query(
    "select current_setting('statement_timeout') as of_statement, current_setting('lock_timeout') as of_lock",
  );
  assert.deepEqual(rows, [{ of_statement: "0", of_lock: "7s" }]);
  await client.end();
});

test("A client that failed to connect can be reset, and can then connect to another server.", async () => {
  await using other = await connected();
  const { user, database, host, port } = other;
  const nowhere = { host: "127.0.0.1", port: await freePort() };
  const client = new pg.Client({ ...nowhere, user, database, password: other.password });
  await assert.rejects(client.connect(), { code: "ECONNREFUSED" });
  const state = stateOf(client);
  assert.deepEqual(
    Object.keys(UNCONNECTED).filter((name) => !(name in other)),
    [],
  );
  // Without this, the client's listeners would mistake the end of the failed connection for the end of the next one.
  client.connection.removeAllListeners().on("error", () => {});
  Object.assign(state, UNCONNECTED, { host, port, connection: newConnection({ ssl: false }) });
  await client.connect();
  assert.deepEqual((await client.query("select 1 as one")).rows, [{ one: 1 }]);
  assert.equal(state._connected, true);
  const ended = client.end();
  assert.equal(state._ending, true);
  await ended;
});

test("A client's connect timeout and its timer are in the fields that this library uses.", async () => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 4_321 });
  const state = stateOf(client);
  assert.equal(state._connectionTimeoutMillis, 4_321);
  const connecting = client.connect();
  assert.notEqual(state.connectionTimeoutHandle, undefined);
  await connecting;
  await client.end();
});

test("A connection's server process is returned with the address, the process id and the key that a cancel request needs.", async () => {
  await using client = await connected();
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const { host, port, processID, secretKey } = serverProcessOf(client);
  assert.equal(processID, rows[0].pid);
  assert.equal(typeof secretKey, "number");
  assert.deepEqual([host, port], [client.host, client.port]);
  assert.equal(serverProcessOf(new pg.Client()).processID, null);
});

test("Errors of the server are reported with their SQLSTATE, for any query.", async () => {
  await using client = await connected();
  const codes: (string | undefined)[] = [];
  onServerError(client, (code) => codes.push(code));
  await assert.rejects(client.query("select 1 / 0"));
  assert.deepEqual(codes, ["22012"]);
});

test("endInUse() closes the connection of a client while a query runs.", async () => {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const client = await pool.connect();
  client.on("error", () => {});
  const sleeping = assert.rejects(client.query("select pg_sleep(60)"), /Connection terminated/);
  await endInUse(client);
  await sleeping;
  client.release(true);
  await pool.end();
});

test("pg's clients are distinguished from other drivers' clients.", async () => {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const lent = await pool.connect();
  assert.deepEqual([pool, lent, new pg.Client(), { query() {} }].map(isPg), [
    true,
    true,
    true,
    false,
  ]);
  lent.release();
  await pool.end();
});

test("A value that pg's parser cannot handle ends the connection, not the process.", async () => {
  const client = new pg.Client({ connectionString: url });
  catchLongValues(client.connection);
  client.on("error", () => {});
  await client.connect();
  const { stream } = client.connection;
  const tooLong = Object.assign(new Error("too long"), { code: "ERR_STRING_TOO_LONG" });
  const value = {
    get byteLength(): number {
      throw tooLong;
    },
  };
  const query = assert.rejects(client.query("select pg_sleep(60)"));
  stream.emit("data", value);
  await query;
  assert.equal(stream.destroyed, true);
});

test("If the server refuses encryption, a connection that need not be encrypted continues without it.", async () => {
  const { host, port } = stateOf(new pg.Client({ connectionString: server.url("scram") }));
  const client = new pg.Client({
    ...{ host, port, database: "postgres", user: "scram", password: "secret" },
    ssl: { rejectUnauthorized: false },
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.connect((error: Error | null) => (error ? reject(error) : resolve()));
  plainWhereRefused(client.connection);
  await promise;
  const { rows } = await client.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
  assert.deepEqual(rows, [{ ssl: false }]);
  await client.end();
});

test("A login by a mechanism that is not allowed is refused before a password is sent.", async () => {
  const login = async (user: string, mechanism: string) => {
    const client = new pg.Client({ connectionString: server.url(user, "secret") });
    client.on("error", () => {});
    const isProved = loginOnlyBy(client, mechanism, () =>
      client.connection.emit("error", new Error("refused by us")),
    );
    await client.connect();
    const result = isProved();
    await client.end();
    return result;
  };
  assert.equal(await login("scram", "SCRAM-SHA-256"), true);
  for (const user of ["scram", "md5", "plain"]) {
    await assert.rejects(login(user, "SCRAM-SHA-256-PLUS"), /refused by us/, user);
  }
});

class Doubled extends PgQuery {
  readonly steps: string[] = [];

  submit(connection: MessageWriter): null {
    this.steps.push("submit");
    this.prepare(connection);
    return null;
  }

  override _getRows(connection: MessageWriter): void {
    this.steps.push("getRows");
    connection.execute({});
    connection.sync();
  }

  override handleCommandComplete(message: unknown, connection: MessageWriter): void {
    this.steps.push("complete");
    super.handleCommandComplete(message, connection);
  }
}

for (const pipeline of [false, true]) {
  test(`A query of a subclass writes its messages itself, pipeline: ${pipeline}.`, async () => {
    await using client = await connected({ pipeline });
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
    const callback = (error: Error | null, result: pg.QueryResult) =>
      error ? reject(error) : resolve(result);
    const query = new Doubled({ text: "select $1::int * 2 as twice", values: [21], callback });
    client.query(query as unknown as pg.Submittable);
    assert.deepEqual((await promise).rows, [{ twice: 42 }]);
    assert.deepEqual(query.steps, ["submit", "getRows", "complete"]);
  });
}

test("If an object sends a COPY, pg calls one method of the object when the COPY ends, and another method when the COPY fails.", async () => {
  await using client = await connected();
  await client.query("create temporary table numbers (n int)");
  const copy = (line: string) =>
    new Promise<string>((resolve, reject) => {
      let tag = "";
      submitQuery(client, {
        submit(connection) {
          connection.query("copy numbers from stdin");
          const head = Buffer.from([0x64, 0, 0, 0, 4 + line.length]);
          connection.stream.write(Buffer.concat([head, Buffer.from(line)]));
          connection.endCopyFrom();
        },
        handleCopyInResponse() {},
        handleCommandComplete: ({ text }) => {
          tag = text;
        },
        handleReadyForQuery: () => resolve(tag),
        handleError: reject,
      });
    });
  assert.equal(await copy("1\n2\n"), "COPY 2");
  await assert.rejects(copy("x\n"), { code: "22P02" });
  assert.deepEqual((await client.query("select sum(n)::int from numbers")).rows, [{ sum: 3 }]);
});
