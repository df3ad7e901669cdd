// A transactional task that inserts a row into the table `effects`. If the payload of a job names a point, the first
// attempt of the job kills its process at that point. Below, the first line has the steps, the second line the points:
//
//   begin ──▶ effect ──▶ delete of the job ──▶ commit ──▶ answer
//         begun     effect              deleted    sent       committed
import { setImmediate } from "node:timers/promises";
import type { Task } from "../../../src/worker/task/task.ts";
import { defineTransactionalTask } from "../../../src/worker/task/transactional-task.ts";
import { machineTime, type RunLog } from "../../worker/run-log.ts";

export const PAYING_POINTS = ["begun", "effect", "deleted", "sent", "committed"] as const;
type PayingPoint = (typeof PAYING_POINTS)[number];

export interface Payment {
  readonly n: string;
  /** The point at which the first attempt kills its process; null: at none. */
  readonly killAt: PayingPoint | null;
}

/** The text of the notice that the server sends while it commits an effect. */
export const PAID = "an effect is being committed";

export const EFFECTS = `
  create table if not exists effects (job_id bigint not null, n text not null);
  create or replace function report_effect() returns trigger language plpgsql as
    $$ begin raise notice '${PAID}'; return null; end $$;
  create constraint trigger report after insert on effects
    deferrable initially deferred for each row execute function report_effect()`;

export function payingTask(log: RunLog, by: string): Task<never> {
  const task = defineTransactionalTask<Payment>("pay", async ({ n, killAt }, { job }, client) => {
    const at = job.attempts === 1 ? killAt : null;
    const die = (point: PayingPoint) => {
      if (at !== point) return;
      log.write({ e: "dead", by, n, t: machineTime() });
      process.kill(process.pid, "SIGKILL");
    };
    die("begun");
    await client.query("insert into effects (job_id, n) values ($1, $2)", [job.id, n]);
    die("effect");
    if (at === null) return;
    // The library sends the commit. This wrapper kills the process before the commit is sent, right after that, or
    // after the answer to the commit.
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    client.query = (async (...args: unknown[]) => {
      if (args[0] !== "commit") return query(...args);
      die("deleted");
      const answer = query(...args);
      await setImmediate(); // By then the commit has been written to the socket.
      die("sent");
      const result = await answer;
      die("committed");
      return result;
    }) as typeof client.query;
  });
  return task as Task<never>;
}
