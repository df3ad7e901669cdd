// Tests the admin with large payloads that are compressed with pglz, PostgreSQL's own compression. This file sends all
// requests of asked.ts, except those for counts and groups.
import { long, testPackedRows } from "./packed-rows.ts";

const statement = `update worker._private_jobs set payload = json_build_object('a', ${long}, 'n', id)`;

testPackedRows("payloads in pglz", statement, ["lists", "others"]);
