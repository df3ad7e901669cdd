// Makes the same random calls to the product and to a model of the queue in memory (test/queue/model). After each call,
// the product's result and tables must equal those of the model. Some kinds of calls are also made on a schema that
// Graphile Worker has migrated. The message of a failure has a seed and a path. With them, this command repeats the
// failed run: `SEED=… RUN_PATH=… npm run test:files -- test/queue/long/model.test.ts`.
import assert from "node:assert/strict";
import { before, describe, type TestContext, test } from "node:test";
import { emptyDatabase, migratedDatabase } from "../../support/database.ts";
import { installStock } from "../../support/stock-schema.ts";
import { testPool } from "../../support/test-pool.ts";
import { check, type Mix } from "../model/check.ts";

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const path = process.env["RUN_PATH"];

describe("The product behaves as the model", () => {
  let url = "";
  before(async () => {
    ({ url } = await migratedDatabase());
  });
  const agrees = (mix: Mix) => async (t: TestContext) => {
    t.diagnostic(`seed ${seed}`);
    const product = { url, schema: "worker", hasLeases: true };
    const wrong = await check({ ...product, mix, runs: 150, seed, path });
    if (wrong !== null) assert.fail(wrong);
  };

  test("with job keys of every mode.", agrees("keys"));
  test("in the selection and the order of the jobs that are fetched.", agrees("order"));
  test("when attempts fail, and when users act on jobs.", agrees("retry"));
  test("when workers become stale, and other workers recover their jobs.", agrees("recovery"));
});

describe("The product behaves as the model on a schema that Graphile Worker has migrated", () => {
  let url = "";
  before(async () => {
    ({ url } = await emptyDatabase());
    await using handle = testPool(url);
    await installStock(handle.pool);
  });
  const agrees = (mix: Mix) => async (t: TestContext) => {
    t.diagnostic(`seed ${seed}`);
    const stock = { url, schema: "worker", hasLeases: false };
    const wrong = await check({ ...stock, mix, runs: 100, seed, path });
    if (wrong !== null) assert.fail(wrong);
  };

  test("with job keys of every mode.", agrees("keys"));
  test("when attempts fail, and when users act on jobs.", agrees("retry"));
});
