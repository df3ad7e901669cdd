// COPY … FROM STDIN over a connection of pg, which knows the messages but has no method for it.
import type pg from "pg";
import type { Database, Queryable, Statement } from "../database.ts";
import { explainDatabaseError } from "../errors/database-errors.ts";
import type { BinaryRows } from "./binary-rows.ts";

// PostgreSQL takes a message in whole before it looks at it: small ones stay in its caches.
const CHUNK_BYTES = 32_768;

/** What pg calls on whatever has been given to `client.query` and has a method `submit`. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/**
 * Writes the rows to `target`: a table and its columns. `db.client` must be one connection, not a
 * pool, and not in pipeline mode. Throws WorkerError.
 */
export async function copyIn(db: Database, target: Statement, rows: BinaryRows): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const text = `copy ${target(db.schema.quoted)} from stdin (format binary)`;
  const data = rows.finish();
  let failure: Error | null = null;
  const submittable = {
    // All in one go: where the COPY is refused, PostgreSQL passes over the rows, as the protocol
    // has it. Waiting for leave would cost a turn of a loop that is busy with the next rows.
    submit(connection: CopyConnection) {
      connection.query(text);
      for (let at = 0; at < data.length; at += CHUNK_BYTES) {
        connection.sendCopyFromChunk(data.subarray(at, at + CHUNK_BYTES));
      }
      connection.endCopyFrom();
    },
    handleCopyInResponse() {},
    handleCommandComplete() {},
    handleRowDescription() {},
    handleDataRow() {},
    handlePortalSuspended() {},
    handleEmptyQuery() {},
    handleReadyForQuery: () => (failure === null ? resolve() : reject(failure)),
    handleError: (error: Error) => {
      failure = error;
      // A connection that is gone will never be ready again.
      reject(error);
    },
  };
  submit(db.client, submittable);
  try {
    await promise;
  } catch (error) {
    throw explainDatabaseError(error, db.schema.name);
  }
}

function submit(client: Queryable, submittable: object): void {
  (client as unknown as pg.ClientBase).query(submittable as pg.Submittable);
}
