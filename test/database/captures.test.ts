// No statement about the schema or the server may call a function or operator that another role could put on the search
// path. Statements about jobs are tested in test/queue/golden-names.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueryConfig, QueryResultRow } from "pg";
import pg from "pg";
import { readFacts } from "../../src/cli/commands/doctor/read-facts.ts";
import type { Queryable } from "../../src/database/database.ts";
import { readForeignColumns } from "../../src/database/inspect/foreign-columns.ts";
import {
  assertNoTransaction,
  openTransactionsEnd,
} from "../../src/database/inspect/open-transactions.ts";
import { isReadOnlyServer } from "../../src/database/inspect/read-only-server.ts";
import { planBuild, whyNotBuilt } from "../../src/database/schema/indexes/build-index.ts";
import { readBuilds } from "../../src/database/schema/indexes/build-progress.ts";
import { planMigration } from "../../src/database/schema/plan-migration.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { bareFunctions, operatorsOfOthers, overloadedClient } from "../support/captures.ts";
import { migratedDatabase } from "../support/database.ts";

test("Statements about the schema and the server call only PostgreSQL's own functions and operators.", async () => {
  const { url } = await migratedDatabase("worker", ["operations"]);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const texts = new Set<string>();
  const client: Queryable = {
    query: <R extends QueryResultRow>(config: QueryConfig) => {
      texts.add(config.text);
      return pool.query<R>(config);
    },
  };
  const db = { client, schema: schemaName() };
  const { unread } = await readFacts(db);
  assert.deepEqual(unread, []);
  await readForeignColumns(db);
  await isReadOnlyServer(db);
  await openTransactionsEnd(db, 1_000);
  await assertNoTransaction(db, "it");
  await readBuilds(db);
  await planBuild({ pool, db }, "failed");
  await whyNotBuilt(db, "failed");
  await planMigration(db, []);
  await pool.end();

  const overloaded = await overloadedClient(url);
  const found: string[] = [];
  for (const text of texts) {
    const captured = [...bareFunctions(text), ...(await operatorsOfOthers(overloaded, text))];
    found.push(...captured.map((one) => `${one} in ${text}`));
  }
  await overloaded.end();
  assert.deepEqual(found, []);
  assert.ok(texts.size > 20, `${texts.size} statements were captured`);
});
