// Short looks: what they send, and when they are worth it. The first look after a rest is mostly for
// a single job, which waits for it.
import type { Database, Statement } from "../database/database.ts";
import { PacketStatement } from "../database/packet-statement.ts";
import { LookedRows } from "../queue/short-look.ts";
import type { Lane } from "./lane.ts";

/** Most jobs of a look. */
const LOOK_JOBS = 32;

/** Looks that are left out after several in vain. */
const LEFT_OUT_AT_MOST = 64;

export class ShortLooks {
  readonly #statement: PacketStatement;
  readonly #rest: readonly string[];
  readonly #identifiers: string;
  readonly #begins: boolean;
  /** By the number of jobs that they ask for. */
  readonly #packets = new Map<number, Uint8Array>();
  #leftOut = 0;
  #toLeaveOut = 0;

  /**
   * `statement` has the parameters $1 text[] `identifiers`, $2 int most jobs, and then `rest`.
   * `begins`: a transaction begins with it.
   */
  constructor(
    { schema }: Pick<Database, "schema">,
    statement: Statement,
    values: {
      readonly identifiers: string;
      readonly rest: readonly string[];
      readonly begins: boolean;
    },
  ) {
    this.#statement = new PacketStatement("worker_look", statement(schema.quoted), schema.name);
    this.#identifiers = values.identifiers;
    this.#rest = values.rest;
    this.#begins = values.begins;
  }

  /** Whether the next look should be short: not where short ones have been in vain lately. */
  next(): boolean {
    if (this.#toLeaveOut === 0) return true;
    this.#toLeaveOut--;
    return false;
  }

  /** Up to `want` jobs that have just become ready, and few. `isFull`: as many as it asked for. */
  async look(lane: Lane, want: number): Promise<{ rows: LookedRows; isFull: boolean }> {
    const most = Math.min(want, LOOK_JOBS);
    const rows = await lane.sendPacket(this.#statement, this.#packet(most));
    const inVain = rows.length === 0;
    this.#leftOut = inVain ? Math.min(LEFT_OUT_AT_MOST, this.#leftOut * 2 || 1) : 0;
    this.#toLeaveOut = this.#leftOut;
    return { rows: new LookedRows(rows), isFull: rows.length === most };
  }

  #packet(want: number): Uint8Array {
    let packet = this.#packets.get(want);
    if (packet === undefined) {
      const values = [this.#identifiers, String(want), ...this.#rest];
      packet = this.#statement.packet(values, { begins: this.#begins });
      this.#packets.set(want, packet);
    }
    return packet;
  }
}
