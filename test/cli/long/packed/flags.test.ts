// Tests that the admin answers the requests of asked.ts while jobs have large flags, which are in a column of type
// jsonb. The first test checks that asked.ts lists all routes that read data.
import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "../../../../src/admin/routes.ts";
import { asked } from "./asked.ts";
import { long, testPackedRows } from "./packed-rows.ts";

test("asked.ts lists every GET route except those of the page, its files and downloads with a ticket.", () => {
  const reads = routes.filter(
    ({ method, access }) => method === "GET" && ["read", "open", "metrics"].includes(access),
  );
  assert.deepEqual(Object.keys(asked).toSorted(), reads.map(({ path }) => path).toSorted());
});

testPackedRows(
  "flags",
  `update worker._private_jobs set flags = jsonb_build_object(left(${long}, 1200000), true)`,
);
