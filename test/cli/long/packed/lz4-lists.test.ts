// Payloads are compressed with lz4, which makes repetitive text a third as large as pglz does. All requests are sent,
// except those for counts and groups.
import { long, testPackedRows } from "./packed-rows.ts";

const statement = `alter table worker._private_jobs alter column payload set compression lz4;
  update worker._private_jobs set payload = json_build_object('a', ${long}, 'n', id)`;

testPackedRows("payloads in lz4", statement, ["lists", "others"]);
