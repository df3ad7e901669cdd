// While another session holds an exclusive lock on the table of jobs, the admin answers requests with 503 within two
// seconds, even requests that wait for a connection to PostgreSQL. Once the lock is released, the admin answers
// requests for a list with 200 again.
import pg from "pg";
import { startAdminProcess } from "../../../bench/admin/admin-process.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import { answers } from "./database-away.ts";

/**
 * The number of reads in a round. WRITTEN writes are sent at the same time. The admin has far fewer connections to
 * PostgreSQL, so most of these requests wait. One client may have 50 requests at once, which is more than a round has.
 * So the admin refuses no request.
 */
const REQUESTS = 36;
const WRITTEN = 12;
const ROUTES = ["/api/jobs?q=is:failed", "/api/jobs/1", "/api/queues", "/api/jobs?q=payload.a:1"];
const ROUNDS = 5;
const MAX_MS = 2_000;

export async function lockedTable(field: Field, server: Server): Promise<void> {
  const url = await server.createDatabase("locked");
  const admin = await startAdminProcess(url);
  field.defer(() => admin.kill());
  await answers(admin, 200);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  field.defer(() => holder.end());
  await holder.query("begin; lock table worker._private_jobs in access exclusive mode");
  for (let round = 0; round < field.times(ROUNDS, 1); round++) {
    const reads = Array.from({ length: REQUESTS }, (_, n) =>
      admin.get(ROUTES[n % ROUTES.length] ?? ""),
    );
    const writes = Array.from({ length: WRITTEN }, () =>
      admin.post("/api/jobs", { identifier: "t" }),
    );
    for (const [what, all] of [
      ["a read", reads],
      ["a write", writes],
    ] as const) {
      for (const { status, ms, text } of await Promise.all(all)) {
        field.figure(`locked table: from ${what} to its answer`, null, ms, { most: MAX_MS });
        if (status !== 503)
          field.problem(null, `locked table: ${what} was answered with ${status}: ${text}`);
      }
    }
  }
  await holder.query("rollback");
  await answers(admin, 200);
  await admin.stop();
}
