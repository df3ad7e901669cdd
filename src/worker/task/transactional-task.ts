// A task whose effects and whose job's end are one transaction.
import type { PoolClient } from "pg";
import { isError } from "../../base/errors.ts";
import { defineTask, type Task, type TaskOptions } from "./task.ts";
import type { TaskContext } from "./task-context.ts";

/** Runs one job inside a transaction; `client` has begun it. Throwing or rejecting rolls it back and fails the attempt. */
export type TransactionalHandler<Payload, Extensions> = (
  payload: Payload,
  context: TaskContext<Extensions>,
  client: PoolClient,
) => unknown;

/**
 * A task that runs in a transaction of the worker's pool, which also deletes the job: what the handler writes on
 * `client` is committed if and only if the job is completed, however the worker ends. The transaction is open while
 * the handler runs, so keep it short. Throws InputError with everything that is wrong with the arguments.
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
        // What fails any other task must not commit.
        if (isError(returned) || (typeof returned === "string" && returned !== "")) throw returned;
        await context.completeIn(client);
        await client.query("commit");
      } catch (error) {
        // Fails where the connection is lost; the first error is the one that counts.
        await client.query("rollback").catch(() => {});
        throw error;
      }
    });
  };
  return defineTask(identifier, isCallable ? run : handler, options);
}
