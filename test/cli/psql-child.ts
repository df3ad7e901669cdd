// Replaces psql and pg_dump when tests run suggested commands, because the machine may not have them. `-d` or libpq's
// environment variables name the database. The statement of `-c` is executed. With `--schema`, the program fails if the
// schema does not exist. It prints nothing, and writes no dump.
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
