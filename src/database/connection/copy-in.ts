// COPY … FROM STDIN over a connection of pg, which supports the messages of COPY but has no method for it.
import type { Writable } from "node:stream";
import type pg from "pg";
import type { Database, Statement } from "../database.ts";
import { explainDatabaseError } from "../errors/database-errors.ts";
import { submitQuery } from "../pg-internals.ts";
import type { BinaryRows } from "./binary-rows.ts";

// The size of a message. PostgreSQL parses a message only when it is complete. A small one stays in the CPU's cache.
const CHUNK_BYTES = 32_768;

/** The size of a CopyData message without its data: a letter, and the length of everything after the letter. */
const HEAD_BYTES = 5;
const COPY_DATA = 0x64;

/**
 * Writes the rows to `target`: a table and its columns. `db.client` must be one connection, not a pool, and not in
 * pipeline mode. The rows must not change before the promise resolves. Returns how many rows were stored, because a
 * trigger may skip some. Throws WorkerError.
 */
export async function copyIn(db: Database, target: Statement, rows: BinaryRows): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const text = `copy ${target(db.schema.quoted)} from stdin (format binary)`;
  const data = rows.finish();
  let failure: Error | null = null;
  let stored = 0;
  submitQuery(db.client as unknown as pg.ClientBase, {
    // Everything is sent at once: if the COPY is refused, PostgreSQL skips the rows, as the protocol defines. Waiting
    // for its response would cost a turn of an event loop that is busy with the next rows.
    submit(connection) {
      connection.query(text);
      sendRows(connection.stream, data);
      connection.endCopyFrom();
    },
    handleCopyInResponse() {},
    // The tag is `COPY 12`.
    handleCommandComplete({ text: tag }) {
      stored = Number(tag.slice("COPY ".length));
    },
    handleReadyForQuery: () => (failure === null ? resolve(stored) : reject(failure)),
    handleError: (error) => {
      failure = error;
      // A closed connection never becomes ready again.
      reject(error);
    },
  });
  try {
    return await promise;
  } catch (error) {
    throw explainDatabaseError(error, db.schema.name);
  }
}

/** Sends the rows without copying them: pg's own method copies each chunk into a new buffer. */
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
