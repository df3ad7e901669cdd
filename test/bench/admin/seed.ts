// Creates a database with a large queue, on which the admin can be tried:
//
//   node --import ./test/support/register.mjs test/bench/admin/seed.ts --server postgres://… \
//     --database big [--jobs 1000000] [--sorted] [--schema worker] [--connections 2]
import { parseArgs } from "node:util";
import { seedDatabase } from "./seed-database.ts";

const { values } = parseArgs({
  options: {
    server: { type: "string" },
    database: { type: "string", default: "big" },
    jobs: { type: "string", default: "1000000" },
    sorted: { type: "boolean", default: false },
    schema: { type: "string", default: "worker" },
    connections: { type: "string", default: "2" },
  },
});
if (values.server === undefined) throw new Error("pass the URL of the server with --server");
const began = performance.now();
const url = await seedDatabase(values.server, values.database, {
  jobs: Number(values.jobs),
  isSorted: values.sorted,
  schema: values.schema,
  connections: Number(values.connections),
  progress: (line) => console.error(line),
});
console.log(`seeded ${url} in ${Math.round((performance.now() - began) / 1_000)} s`);
