// Flags, which are jsonb; and every route that the page reads.
import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "../../../../src/admin/routes.ts";
import { asked } from "./asked.ts";
import { long, testPackedRows } from "./packed-rows.ts";

test("The list of requests in asked.ts names every route that the page reads.", () => {
  const reads = routes.filter(
    ({ method, access }) => method === "GET" && ["read", "open", "metrics"].includes(access),
  );
  assert.deepEqual(Object.keys(asked).toSorted(), reads.map(({ path }) => path).toSorted());
});

testPackedRows(
  "flags",
  `update worker._private_jobs set flags = jsonb_build_object(left(${long}, 1200000), true)`,
);
