// Payloads in lz4, which packs text that repeats itself three times as well, in lists.
import { long, testPackedRows } from "./packed-rows.ts";

const statement = `alter table worker._private_jobs alter column payload set compression lz4;
  update worker._private_jobs set payload = json_build_object('a', ${long}, 'n', id)`;

testPackedRows("payloads in lz4", statement, ["lists", "others"]);
