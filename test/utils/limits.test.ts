// Tests the functions of the library that set, read, list and remove limits, and the one that ends their back-offs.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { makeWorkerUtils } from "../../src/index.ts";
import { migratedDatabase } from "../support/database.ts";

test("A limit is set, read, listed and removed; setting an equal limit again changes nothing.", async () => {
  const { url } = await migratedDatabase("worker", ["limits"]);
  await using utils = await makeWorkerUtils({ connectionString: url });
  const rate = { limit: 100, perMs: 1_000 };
  const set = { name: "stripe", task: "charge_card", concurrency: 10, rate };
  assert.equal(await utils.setLimit(set, { setBy: "ana" }), true);
  assert.equal(await utils.setLimit(set), false);
  await utils.setLimit({ name: "mail", queue: "mail/*", concurrency: 1 });
  const { setAt, ...limit } = await utils.getLimit("stripe");
  assert.ok(setAt instanceof Date);
  assert.deepEqual(limit, {
    ...{ name: "stripe", task: "charge_card", queue: null, concurrency: 10 },
    rate: { ...rate, burst: 20 },
    ...{ isFromCode: false, setBy: "ana", revision: 1, backOff: null },
  });
  const listed = await utils.listLimits();
  assert.deepEqual(
    listed.map(({ name, queue }) => [name, queue]),
    [
      ["mail", "mail/*"],
      ["stripe", null],
    ],
  );
  assert.equal(await utils.removeLimit("mail"), true);
  assert.equal(await utils.removeLimit("mail"), false);
  await assert.rejects(utils.getLimit("mail"), { code: "not_found" });
  await assert.rejects(utils.setLimit({ name: "stripe", queue: "q", concurrency: 1 }), {
    code: "conflict",
  });
  await assert.rejects(utils.setLimit({ name: "x", task: "t" }), { code: "bad_input" });
  await assert.rejects(utils.setLimit({ name: "..", task: "t", concurrency: 1 }), {
    message: /name: must not be "\." or "\.\."/,
  });
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`insert into worker._private_back_offs (scope, name, until)
    values ('limit', 'stripe', now() + interval '1 minute')`);
  await client.end();
  assert.ok((await utils.getLimit("stripe")).backOff !== null);
  assert.equal(await utils.endBackOff("stripe"), 1);
  assert.equal(await utils.endBackOff("stripe"), 0);
  assert.equal((await utils.getLimit("stripe")).backOff, null);
  await assert.rejects(utils.endBackOff("none"), { code: "not_found" });
  const notText = { code: "bad_input", message: "the name of a limit must be a string" };
  for (const name of [5, null, undefined, {}] as unknown as string[]) {
    await assert.rejects(utils.getLimit(name), notText);
    await assert.rejects(utils.endBackOff(name), notText);
    await assert.rejects(utils.removeLimit(name), notText);
  }
});

test("The default burst of the fastest rate is the greatest burst that is allowed.", async () => {
  const { url } = await migratedDatabase("worker", ["limits"]);
  await using utils = await makeWorkerUtils({ connectionString: url });
  await utils.setLimit({ name: "fast", task: "t", rate: { limit: 1_000_000, perMs: 1 } });
  assert.equal((await utils.getLimit("fast")).rate?.burst, 1_000_000);
});

test("Without the tables of limits, every function for limits rejects, and the error names the command that adds the tables.", async () => {
  const { url } = await migratedDatabase("worker");
  await using utils = await makeWorkerUtils({ connectionString: url });
  const missing = { code: "extension_missing", message: /"worker migrate --with limits" adds/ };
  await assert.rejects(utils.setLimit({ name: "x", task: "t", concurrency: 1 }), missing);
  await assert.rejects(utils.removeLimit("x"), missing);
  await assert.rejects(utils.endBackOff("x"), missing);
  await assert.rejects(utils.getLimit("x"), missing);
  await assert.rejects(utils.listLimits(), missing);
});
