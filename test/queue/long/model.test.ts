// Makes random lists of calls to the queue and to the model in test/queue/model. After each call, compares its results
// and the contents of the tables with those of the model. Some kinds of calls are also made on a schema that Graphile
// Worker has migrated. A failure names a seed and a path. To repeat it:
// `SEED=… RUN_PATH=… npm run test:files -- test/queue/long/model.test.ts`.
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
  test("when attempts fail, and when people act on jobs.", agrees("retry"));
  test("when workers die, and others recover their jobs.", agrees("recovery"));
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
  test("when attempts fail, and when people act on jobs.", agrees("retry"));
});
