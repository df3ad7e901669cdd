// Sends rows to PostgreSQL with COPY … FROM STDIN, for which pg's client has no method.
import type { Writable } from "node:stream";
import type pg from "pg";
import type { Database, Statement } from "../database.ts";
import { explainDatabaseError } from "../errors/database-errors.ts";
import { submitQuery } from "../pg-internals.ts";
import type { BinaryRows } from "./binary-rows.ts";

// PostgreSQL reads a whole CopyData message before it parses the rows. A small message is then still in the CPU's
// cache.
const CHUNK_BYTES = 32_768;

/** The head of a CopyData message: a type of 1 byte, and 4 bytes for the length without the type. */
const HEAD_BYTES = 5;
const COPY_DATA = 0x64;

/**
 * Writes the rows to a table. `target`: the SQL for the table and its columns. `db.client` must be one connection, not
 * a pool, and must not be in pipeline mode. The rows must not change before the promise settles. Returns how many rows
 * were stored; rows that a trigger skipped do not count. Throws WorkerError.
 */
export async function copyIn(db: Database, target: Statement, rows: BinaryRows): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const text = `copy ${target(db.schema.quoted)} from stdin (format binary)`;
  const data = rows.finish();
  let failure: Error | null = null;
  let stored = 0;
  submitQuery(db.client as unknown as pg.ClientBase, {
    // A wait until PostgreSQL has accepted the COPY would take a turn of the event loop. If PostgreSQL refuses the
    // COPY, it ignores the rows, as the protocol defines.
    submit(connection) {
      connection.query(text);
      sendRows(connection.stream, data);
      connection.endCopyFrom();
    },
    handleCopyInResponse() {},
    handleCommandComplete({ text: tag }) {
      stored = Number(tag.slice("COPY ".length));
    },
    handleReadyForQuery: () => (failure === null ? resolve(stored) : reject(failure)),
    handleError: (error) => {
      failure = error;
      // If the connection was closed, handleReadyForQuery is not called.
      reject(error);
    },
  });
  try {
    return await promise;
  } catch (error) {
    throw explainDatabaseError(error, db.schema.name);
  }
}

/** Does not use sendCopyFromChunk() of pg's connection: that method copies each chunk. */
function sendRows(stream: Writable, data: Buffer): void {
  stream.cork();
  for (let at = 0; at < data.length; at += CHUNK_BYTES) {
    const chunk = data.subarray(at, at + CHUNK_BYTES);
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt8(COPY_DATA);
    head.writeUInt32BE(chunk.length + HEAD_BYTES - 1, 1);
    stream.write(head);
    stream.write(chunk);
  }
  stream.uncork();
}
