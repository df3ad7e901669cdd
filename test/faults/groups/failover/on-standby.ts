// Tests that a worker that can connect only to a standby does not start, and that its error names the cause.
import { messageOf } from "../../../../src/base/errors.ts";
import { run } from "../../../../src/worker/run.ts";
import { defineTask } from "../../../../src/worker/task/task.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import { severalHosts } from "./pair.ts";

/**
 * Reports a problem if the worker starts, or if its error does not name the cause. `database`: the name of a database
 * that has the queue's schema.
 */
export async function refusedOnStandby(
  field: Field,
  standby: Server,
  database: string,
): Promise<void> {
  const cases = [
    [standby.url(database), /accepts no writes now .* is this a standby\?/],
    [severalHosts([standby.url()], database), /no server is read-write.* is a standby/],
  ] as const;
  const tasks = [defineTask("none", () => {})];
  for (const [connectionString, sentence] of cases) {
    const why = await run({ connectionString, tasks }).then(async (worker) => {
      await worker.stop();
      return "it works";
    }, messageOf);
    if (!sentence.test(why))
      field.problem(null, `the error of a worker on a standby does not name the cause: ${why}`);
  }
}
