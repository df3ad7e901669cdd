// Replaces psql and pg_dump in suggested commands, for machines without them: `-d` or libpq's variables name the
// database, and `-c` is a statement. As pg_dump it writes nothing, and fails if the schema does not exist.
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
