// Payloads that are compressed with lz4, which makes repetitive text a third as large as pglz: all other requests.
import { long, testPackedRows } from "./packed-rows.ts";

const statement = `alter table worker._private_jobs alter column payload set compression lz4;
  update worker._private_jobs set payload = json_build_object('a', ${long}, 'n', id)`;

testPackedRows("payloads in lz4", statement, ["lists", "others"]);
