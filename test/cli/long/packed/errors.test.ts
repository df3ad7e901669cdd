// Large errors: `last_error` of all failed jobs.
import { long, testPackedRows } from "./packed-rows.ts";

testPackedRows(
  "errors",
  `update worker._private_jobs set last_error = 'Error: ' || ${long} where attempts > 0`,
);
