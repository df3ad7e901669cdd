// The part of psql and pg_dump that suggested commands use, for machines without them: `-d` and libpq's variables name
// the database, `-c` is a statement; pg_dump checks that the schema exists.
import { parseArgs } from "node:util";
import pg from "pg";

const { values } = parseArgs({
  options: {
    dbname: { type: "string", short: "d" },
    command: { type: "string", short: "c" },
    schema: { type: "string" },
    "schema-only": { type: "boolean" },
  },
});
const client = new pg.Client(
  values.dbname === undefined ? {} : { connectionString: values.dbname },
);
await client.connect();
if (values.command !== undefined) await client.query(values.command);
if (values.schema !== undefined) {
  const { rows } = await client.query("select 1 from pg_namespace where nspname = $1", [
    values.schema,
  ]);
  if (rows.length === 0) throw new Error(`no schema ${values.schema}`);
}
await client.end();
