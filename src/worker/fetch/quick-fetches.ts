// Quick fetches: what they send, and when they are worth it. The first fetch after a while without jobs
// is mostly for a single job, which waits for it: a third of that time is the large statement's.
import { PacketStatement } from "../../database/connection/packet-statement.ts";
import type { Statement } from "../../database/database.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import { type QuickForm, QuickRows } from "../../queue/fetch/quick-fetch.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { KnownTasks } from "./known-tasks.ts";

/** Most jobs of a quick fetch. */
const MOST_JOBS = 32;

/** Quick fetches that are left out after several in vain. */
const LEFT_OUT_AT_MOST = 64;

export interface QuickFetchesParts {
  readonly schema: SchemaName;
  readonly tasks: KnownTasks;
  /** $1 tasks, $2 most jobs, then `values`, then the forbidden flags where the form has them. */
  statement(form: QuickForm): Statement;
  readonly values: readonly string[];
  /** The jobs are held by the transaction, which is left open. */
  readonly begins: boolean;
}

export class QuickFetches {
  readonly #parts: QuickFetchesParts;
  readonly #statement: PacketStatement;
  /** By the number of jobs that they ask for. */
  readonly #packets = new Map<number, Uint8Array>();
  #leftOut = 0;
  #toLeaveOut = 0;

  constructor(parts: QuickFetchesParts) {
    const { schema, tasks, statement } = parts;
    const text = statement({ flags: tasks.forbiddenFlags !== null })(schema.quoted);
    this.#parts = parts;
    this.#statement = new PacketStatement("worker_quick_fetch", text, schema.name);
  }

  /** Whether the next fetch should be quick: not where quick ones have been in vain lately. */
  mayBeNext(): boolean {
    if (this.#toLeaveOut === 0) return true;
    this.#toLeaveOut--;
    return false;
  }

  /** Takes up to `want` jobs, and few. `isFull`: as many as it asked for. Throws WorkerError. */
  async fetch(
    connection: WorkerConnection,
    want: number,
  ): Promise<{ rows: QuickRows; isFull: boolean }> {
    const most = Math.min(want, MOST_JOBS);
    const rows = await connection.sendPacket(this.#statement, this.#packet(most));
    const inVain = rows.length === 0;
    this.#leftOut = inVain ? Math.min(LEFT_OUT_AT_MOST, this.#leftOut * 2 || 1) : 0;
    this.#toLeaveOut = this.#leftOut;
    return { rows: new QuickRows(rows), isFull: rows.length === most };
  }

  #packet(want: number): Uint8Array {
    let packet = this.#packets.get(want);
    if (packet === undefined) {
      const { tasks, values, begins } = this.#parts;
      const flags = tasks.forbiddenFlags === null ? [] : [tasks.forbiddenFlags];
      const all = [tasks.identifiers, String(want), ...values, ...flags];
      packet = this.#statement.packet(all, { begins });
      this.#packets.set(want, packet);
    }
    return packet;
  }
}
