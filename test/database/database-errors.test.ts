// Tests that errors of PostgreSQL are explained by a code for programs and a message for people.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { createPool, withClient } from "../../src/database/connection/pool.ts";
import { query } from "../../src/database/database.ts";
import { explainDatabaseError } from "../../src/database/errors/database-errors.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";

const refusals = "55000 57P03 57P04 57P05 08001 08004 08P01 53100 53200 53300".split(" ");

test("A server that refuses clients counts as unreachable, whatever its error.", () => {
  for (const code of refusals) {
    const explained = explainDatabaseError(Object.assign(new Error("no"), { code }), "worker");
    assert.equal(explained.code, "database_unreachable", code);
    assert.match(explained.message, /^PostgreSQL (refuses|is out of|has no).*\(no\); /);
  }
});

test("A full table of locks is not reported as a lack of memory, and the message names the setting to raise.", () => {
  const hint = "You might need to increase max_locks_per_transaction.";
  const error = Object.assign(new Error("no"), { code: "53200", hint });
  const explained = explainDatabaseError(error, "worker");
  assert.equal(explained.code, "database_busy");
  assert.match(explained.message, /table of locks is full.*raise max_locks_per_transaction/);
});

test("A database that accepts no connections counts as unreachable.", async () => {
  const [closed, open] = [await emptyDatabase(), await emptyDatabase()];
  await using other = testPool(open.url);
  await other.pool.query(`alter database "${closed.name}" allow_connections false`);
  await using refused = testPool(closed.url);
  await assert.rejects(
    query({ client: refused.pool, schema: schemaName() }, () => "select 1"),
    { code: "database_unreachable", message: /is not currently accepting connections/ },
  );
});

test("A query is rejected if its result has a value that is longer than a JavaScript string can be, and the process continues.", async () => {
  const { url } = await emptyDatabase();
  const pool = createPool({ connectionString: url, logger: silentLogger, maxConnections: 1 });
  try {
    const schema = schemaName();
    await withClient(pool, async (client) => {
      const answer = query({ client, schema }, () => "select pg_sleep(60)");
      // This simulates that PostgreSQL sends such a value. A real one would take seconds.
      client.connection.stream.emit("data", rowWith(2 ** 29));
      await assert.rejects(answer, { code: "too_large", message: /is too large to be stored or/ });
    });
    assert.deepEqual(await query({ client: pool, schema }, () => "select 1 as one"), [{ one: 1 }]);
  } finally {
    await pool.end();
  }
});

/** Returns PostgreSQL's message DataRow with one value of `length` bytes. */
function rowWith(length: number): Buffer {
  const message = Buffer.alloc(11 + length);
  message.write("D");
  message.writeInt32BE(10 + length, 1);
  message.writeInt16BE(1, 5);
  message.writeInt32BE(length, 7);
  return message;
}

test("A statement that is too large is reported as such, not as an unreachable server.", async () => {
  const { url } = await emptyDatabase();
  await using own = testPool(url);
  const sql = () => "select repeat('x', 1100000000)";
  await assert.rejects(query({ client: own.pool, schema: schemaName() }, sql), {
    code: "too_large",
  });
  // If a statement and its values have 1 GiB or more, PostgreSQL closes the connection without sending an error.
  const lost = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  const long = "é".repeat(2 ** 28);
  const explained = explainDatabaseError(lost, "worker", {
    text: "",
    values: ["a", [long, long], 7],
  });
  assert.equal(explained.code, "too_large");
  assert.equal(
    explained.message,
    "1.0 GiB are too much for one statement; PostgreSQL accepts less than 1 GiB, so split the data",
  );
  assert.equal(
    explainDatabaseError(lost, "worker", { text: "", values: [long] }).code,
    "database_unreachable",
  );
});
