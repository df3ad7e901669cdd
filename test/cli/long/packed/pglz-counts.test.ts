// Payloads are compressed with pglz, PostgreSQL's own compression. Only requests for counts and groups are sent.
import { long, testPackedRows } from "./packed-rows.ts";

const statement = `update worker._private_jobs set payload = json_build_object('a', ${long}, 'n', id)`;

testPackedRows("payloads in pglz", statement, ["counts"]);
