// A task whose effects are in one transaction with the completion of its job.
import type { PoolClient } from "pg";
import { isError } from "../../base/errors.ts";
import { defineTask, type Task, type TaskOptions } from "./task.ts";
import type { TaskContext } from "./task-context.ts";

/** Runs one job in the transaction of `client`, which is rolled back when the attempt fails (see TaskHandler). */
export type TransactionalHandler<Payload, Extensions> = (
  payload: Payload,
  context: TaskContext<Extensions>,
  client: PoolClient,
) => unknown;

/**
 * Defines a task that runs in a transaction, which also deletes the job: writes on `client` are committed if and
 * only if the job is completed, even when the worker dies. The transaction is open while the handler runs, so keep
 * the handler short. The transaction holds one of the pool's `maxConnections` connections. Add jobs with
 * `context.utils.with(client)`, because `context.addJob` needs another connection. Do not end the transaction in the
 * handler: use savepoints. Throws InputError with all invalid arguments.
 */
export function defineTransactionalTask<Payload = unknown, Extensions = unknown>(
  identifier: string,
  handler: TransactionalHandler<Payload, Extensions>,
  options: TaskOptions = {},
): Task<Payload, Extensions> {
  const isCallable = typeof handler === "function";
  const run = async (payload: Payload, context: TaskContext<Extensions>): Promise<void> => {
    await context.withPgClient(async (client) => {
      await client.query("begin");
      try {
        const returned = await handler(payload, context, client);
        // As in every task of defineTask(), such a result fails the attempt.
        if (isError(returned) || (typeof returned === "string" && returned !== "")) throw returned;
        await context.completeIn(client);
        await client.query("commit");
      } catch (error) {
        // The rollback fails when the connection is lost; the first error is reported.
        await client.query("rollback").catch(() => {});
        throw error;
      }
    });
  };
  return defineTask(identifier, isCallable ? run : handler, options);
}
