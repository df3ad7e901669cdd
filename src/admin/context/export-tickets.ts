// Addresses that download one export once, within a minute, without a login: for a browser that is
// logged in by a header, which it cannot send when it saves a file. What an address gives stands in it,
// under a seal that follows from the login's secret, so that each of several admins behind one address
// takes the tickets of the others. That one is used up they know of each other where the extension
// `operations` is; without it each knows only what it has given out itself.
import { now } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import { useOnce } from "../../commands/audit/use-once.ts";
import type { Database } from "../../database/database.ts";
import { hasOperations } from "../../database/schema/extensions/has-operations.ts";
import { Refusal } from "../../http/refusal.ts";
import type { ExportRequest } from "../../insight/export/export-request.ts";
import { type Derive, deriveFrom, generateSecret, secretOf } from "../access/secret.ts";

export const TICKET_MS = 60_000;
/** Used ones that are remembered until they expire: far more than can be downloaded in a minute. */
const MOST_USED = 10_000;
/** Of what a request's headers may have. 4,000 ASCII characters of a query fit in. */
export const LONGEST_TICKET = 12_000;

export interface Ticket {
  readonly request: ExportRequest;
  /** Who asked for it, for the log. */
  readonly user: unknown;
}

/** One that somebody has shown, and that counts. */
export interface ShownTicket extends Ticket {
  /** Whether this is the first time. Throws Refusal 503 when that cannot be told. */
  use(): Promise<boolean>;
}

export interface Tickets {
  /** The secret part of the address. */
  give(ticket: Ticket): string;
  /** What the address gives; null where it gives nothing, or no longer does. */
  look(text: string): ShownTicket | null;
}

export interface TicketOptions {
  /** Follows from the login's secret. */
  readonly derive: Derive;
  /** Where it is written down that one is used; null: nothing is written. */
  readonly db: Database | null;
  /** Milliseconds since the epoch. The admins' clocks need to agree only to a part of a minute. */
  readonly clock?: () => number;
}

interface Sealed extends Ticket {
  readonly until: number;
  /** Unlike that of any other ticket. */
  readonly name: string;
}

export function createTickets({ derive, db, clock = now }: TicketOptions): Tickets {
  const seal = deriveFrom(Buffer.from(derive("export ticket 2")));
  /** Name → until when; the oldest stands first. */
  const used = new Map<string, number>();

  const useHere = ({ name, until }: Sealed): boolean => {
    for (const [other, end] of used) {
      if (end >= clock()) break;
      used.delete(other);
    }
    if (used.has(name)) return false;
    if (used.size >= MOST_USED) throw tooMany;
    used.set(name, until);
    return true;
  };

  return {
    give(ticket) {
      const sealed: Sealed = { ...ticket, until: clock() + TICKET_MS, name: generateSecret() };
      const text = Buffer.from(JSON.stringify(sealed)).toString("base64url");
      return `${text}.${seal(text)}`;
    },
    look(shown) {
      const [text = "", mark = "", more] = shown.split(".", 3);
      if (more !== undefined || !secretOf(seal(text)).matches(mark)) return null;
      const sealed = JSON.parse(Buffer.from(text, "base64url").toString()) as Sealed;
      if (clock() > sealed.until) return null;
      return {
        request: sealed.request,
        user: sealed.user,
        use: async () => useHere(sealed) && (db === null || (await useAnywhere(db, sealed))),
      };
    },
  };
}

async function useAnywhere(db: Database, { name, until }: Sealed): Promise<boolean> {
  try {
    return !(await hasOperations(db)) || (await useOnce(db, name, until));
  } catch (error) {
    // On a standby each admin is alone.
    if (error instanceof WorkerError && error.code === "read_only_server") return true;
    throw error;
  }
}

const tooMany = new Refusal(503, "busy", "too many downloads at once; try again in a minute");
