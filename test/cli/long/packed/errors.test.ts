// Tests that the admin answers requests while the `last_error` of every failed job is large.
import { long, testPackedRows } from "./packed-rows.ts";

testPackedRows(
  "errors",
  `update worker._private_jobs set last_error = 'Error: ' || ${long} where attempts > 0`,
);
