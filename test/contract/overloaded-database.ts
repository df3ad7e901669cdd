// A database with overloads of PostgreSQL's functions and operators, as a role can create them that may only create
// objects in `public`. Each overload records in the table `run_as` that it was called.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase } from "../support/database.ts";
import { createOverloads } from "../support/overloads.ts";

const TENANT = `tenant_${process.pid}`;

/** Creates the database before the first test of a file, for all tests of the file. */
export function overloadedDatabase() {
  let url = "";
  let superuser: pg.Client;
  let tenant: pg.Client;
  before(async () => {
    ({ url } = await emptyDatabase());
    const pool = new pg.Pool({ connectionString: url });
    await migrate(pool, schemaName(), { logger: silentLogger, extensions: ["operations"] });
    await pool.end();
    superuser = new pg.Client({ connectionString: url });
    await superuser.connect();
    await superuser.query(`create role ${TENANT} login; grant create on schema public to public`);
    tenant = new pg.Client({ connectionString: url });
    await tenant.connect();
    await tenant.query(`set session authorization ${TENANT}`);
    await createOverloads(superuser, tenant);
  });
  after(async () => {
    await tenant.end();
    await superuser
      .query(`set search_path = pg_catalog; drop owned by ${TENANT} cascade`)
      .catch(() => {});
    await superuser.query(`drop role if exists ${TENANT}`).catch(() => {});
    await superuser.end();
  });
  return {
    get url() {
      return url;
    },
    /** Runs SQL as the superuser, with only PostgreSQL's own objects on the search path. */
    sql: (text: string) => superuser.query(`set search_path = pg_catalog; ${text}`),
    async assertNothingRun(): Promise<void> {
      const { rows } = await superuser.query(
        "select pg_catalog.count(*)::int as times from public.run_as",
      );
      assert.deepEqual(rows, [{ times: 0 }]);
    },
  };
}
