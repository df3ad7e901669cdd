// A transaction's BEGIN and its first statement as bytes that are made once. For a statement that is
// sent again and again after a rest, when every bit of code is cold: pg builds two queries of ten
// messages for it and gets two answers, and that was a quarter of what a job waited until it started.
// Nothing is described: the caller knows the columns, which come as text.
import pg from "pg";
import { serialize } from "pg-protocol";
import { explainDatabaseError } from "./database-errors.ts";

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

/** A statement that may be the first of a transaction. */
export class OpeningStatement {
  readonly #name: string;
  readonly #parse: Uint8Array;
  readonly #schemaName: string;
  /** Connections that have it prepared. */
  readonly #known = new WeakSet<pg.Client>();

  /** `name`: of the prepared statement; nothing else on its connections has it. */
  constructor(name: string, text: string, schemaName: string) {
    this.#name = name;
    this.#parse = serialize.parse({ name, text });
    this.#schemaName = schemaName;
  }

  /** BEGIN and the statement with these values: to be kept, and sent again and again. */
  packet(values: readonly string[]): Uint8Array {
    return Buffer.concat([
      serialize.parse({ text: "begin" }),
      serialize.bind(),
      serialize.execute(),
      serialize.bind({ statement: this.#name, values: [...values] }),
      serialize.execute(),
      serialize.sync(),
    ]);
  }

  /**
   * Sends a packet of this statement. Throws WorkerError: then the connection is of no more use, for
   * nobody knows what of it has been done.
   */
  async send(client: pg.Client, packet: Uint8Array): Promise<readonly TextRow[]> {
    const isKnown = this.#known.has(client);
    this.#known.add(client);
    const bytes = isKnown ? packet : Buffer.concat([this.#parse, packet]);
    try {
      return await new Promise((resolve, reject) => {
        client.query(
          new BytesQuery(bytes, (error, rows = []) => (error ? reject(error) : resolve(rows))),
        );
      });
    } catch (error) {
      throw explainDatabaseError(error, this.#schemaName);
    }
  }
}
