// Defines tasks that write in the same transaction in which their job is completed.
import type { PoolClient } from "pg";
import { isError } from "../../base/errors.ts";
import { defineTask, type Task, type TaskOptions } from "./task.ts";
import type { TaskContext } from "./task-context.ts";

/**
 * A function that runs one job. `client` is in a transaction. If the attempt fails, as described at TaskHandler, the
 * transaction is rolled back.
 */
export type TransactionalHandler<Payload, Extensions> = (
  payload: Payload,
  context: TaskContext<Extensions>,
  client: PoolClient,
) => unknown;

/**
 * Defines a task whose handler runs in the transaction that completes the job. So the handler's writes on `client` are
 * committed if and only if the job is completed, even if the worker crashes. Keep the handler short, because the open
 * transaction occupies a connection of the worker's pool. Add jobs with `context.utils.with(client)`: `context.addJob`
 * adds outside the transaction, and needs another connection. Do not commit or roll back in the handler. To undo a part
 * of the writes, use savepoints. Throws InputError with all invalid arguments.
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
        if (isError(returned) || (typeof returned === "string" && returned !== "")) throw returned;
        await context.completeIn(client);
        await client.query("commit");
      } catch (error) {
        // On a lost connection, the rollback fails, too.
        await client.query("rollback").catch(() => {});
        throw error;
      }
    });
  };
  return defineTask(identifier, isCallable ? run : handler, options);
}
