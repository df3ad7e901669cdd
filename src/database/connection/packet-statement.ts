// Statements that are sent as bytes which are made once. For what is sent again and again after a
// rest, when every bit of code is cold: what pg does for a query, and for its answer, was a quarter of
// the time that a job waited until it started. Nothing is described: the caller knows the columns,
// which come as text.
import pg from "pg";
import { serialize } from "pg-protocol";
import { explainDatabaseError } from "../errors/database-errors.ts";
import { BEGIN } from "./bounded-statement.ts";

/** Columns as text, in the statement's order. */
export type TextRow = readonly (string | null)[];

/** What pg asks of a query. It takes those only in pipeline mode that are of its own class. */
class BytesQuery extends (pg.Query as unknown as new (text: string) => object) {
  readonly #bytes: Uint8Array;
  readonly #rows: TextRow[] = [];
  /** pg puts its own around it, which ends its timer. */
  callback: (error: Error | null, rows?: readonly TextRow[]) => void;

  constructor(bytes: Uint8Array, callback: BytesQuery["callback"]) {
    super("");
    this.#bytes = bytes;
    this.callback = callback;
  }

  submit({ stream }: pg.Connection): void {
    stream.write(this.#bytes);
  }

  handleDataRow({ fields }: { fields: TextRow }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this.#rows);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

const NOTHING = Buffer.alloc(0);

/** In the same unit of the protocol: one answer for both. */
const BEGINNING = Buffer.concat([
  serialize.parse({ text: BEGIN }),
  serialize.bind(),
  serialize.execute(),
]);

export class PacketStatement {
  readonly #name: string;
  readonly #prepare: Uint8Array;
  readonly #schemaName: string;
  /** Connections that have it prepared. */
  readonly #known = new WeakSet<pg.Client>();

  /** `name`: of the prepared statement; nothing else on its connections has it. */
  constructor(name: string, text: string, schemaName: string) {
    this.#name = name;
    // It may have been prepared by a try that failed afterwards; closing what is not there is no error.
    this.#prepare = Buffer.concat([
      serialize.close({ type: "S", name }),
      serialize.parse({ name, text }),
    ]);
    this.#schemaName = schemaName;
  }

  /** The statement with these values: to be kept, and sent again and again. */
  packet(values: readonly string[], { begins = false } = {}): Uint8Array {
    return Buffer.concat([
      begins ? BEGINNING : NOTHING,
      serialize.bind({ statement: this.#name, values: [...values] }),
      serialize.execute(),
      serialize.sync(),
    ]);
  }

  /** Sends a packet of this statement. Throws WorkerError. */
  async send(client: pg.Client, packet: Uint8Array): Promise<readonly TextRow[]> {
    const bytes = this.#known.has(client) ? packet : Buffer.concat([this.#prepare, packet]);
    try {
      const rows = await sent(client, bytes);
      this.#known.add(client);
      return rows;
    } catch (error) {
      this.#known.delete(client);
      throw explainDatabaseError(error, this.#schemaName);
    }
  }
}

function sent(client: pg.Client, bytes: Uint8Array): Promise<readonly TextRow[]> {
  return new Promise((resolve, reject) => {
    const query = new BytesQuery(bytes, (error, rows = []) =>
      error === null ? resolve(rows) : reject(error),
    );
    client.query(query);
  });
}
