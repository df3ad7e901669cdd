// Quick fetches: what they send, and when they are worth it. The first fetch after a while without jobs
// is mostly for a single job, which waits for it: a third of that time is the large statement's.
import { PacketStatement } from "../../database/connection/packet-statement.ts";
import type { SchemaName } from "../../database/schema-name.ts";
import { QuickRows, quickFetchStatement } from "../../queue/fetch/quick-fetch.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { KnownTasks } from "../fetch/known-tasks.ts";

/** Most jobs of a quick fetch. */
const MOST_JOBS = 32;

/** Quick fetches that are left out after several in vain. */
const LEFT_OUT_AT_MOST = 64;

export class QuickFetches {
  readonly #statement: PacketStatement;
  readonly #tasks: KnownTasks;
  /** By the number of jobs that they ask for. */
  readonly #packets = new Map<number, Uint8Array>();
  #leftOut = 0;
  #toLeaveOut = 0;

  constructor(schema: SchemaName, tasks: KnownTasks) {
    const text = quickFetchStatement({ flags: tasks.forbiddenFlags !== null })(schema.quoted);
    this.#statement = new PacketStatement("worker_quick_fetch", text, schema.name);
    this.#tasks = tasks;
  }

  /** Whether the next fetch should be quick: not where quick ones have been in vain lately. */
  mayBeNext(): boolean {
    if (this.#toLeaveOut === 0) return true;
    this.#toLeaveOut--;
    return false;
  }

  /** Begins a transaction and locks up to `want` jobs, and few. `isFull`: as many as it asked for. */
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
      const { identifiers, forbiddenFlags } = this.#tasks;
      const values = [identifiers, String(want)];
      if (forbiddenFlags !== null) values.push(forbiddenFlags);
      packet = this.#statement.packet(values, { begins: true });
      this.#packets.set(want, packet);
    }
    return packet;
  }
}
