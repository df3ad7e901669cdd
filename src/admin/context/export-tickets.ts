// Tickets for downloads. A browser cannot send a login's header when it saves a file. So with a ticket, an export can
// be downloaded without a login, once, within a minute. The signing key is derived from the login's secret, so admins
// that share the secret accept each other's tickets. The use of a ticket is recorded in memory and, if possible, in a
// table of the extension `operations`, for other admins.
import { now } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import { useOnce } from "../../commands/audit/use-once.ts";
import type { Database } from "../../database/database.ts";
import { hasOperations } from "../../database/schema/extensions/has-operations.ts";
import { Refusal } from "../../http/refusal.ts";
import type { ExportRequest } from "../../insight/export/export-request.ts";
import { type DeriveSecret, deriveFrom, generateSecret, secretOf } from "../access/secret.ts";

export const TICKET_MS = 60_000;
/** The maximum number of used tickets in memory. */
const MAX_USED = 10_000;
/** The maximum length of a ticket. It fits into a request's headers, and allows a query of 4,000 ASCII letters. */
export const MAX_TICKET_LENGTH = 12_000;

export interface Ticket {
  readonly request: ExportRequest;
  /** The user of the request that created the ticket, for the log. */
  readonly user: unknown;
}

/** A ticket that has the right signature and has not expired. */
export interface ValidTicket extends Ticket {
  /**
   * Records the use of the ticket. Resolves to false if the ticket was used before. Rejects with Refusal 503 if
   * MAX_USED tickets are in memory. After a rejection, the ticket can be used again, unless its use is already stored
   * in the database.
   */
  use(db: Database): Promise<boolean>;
}

export interface Tickets {
  /** Returns the ticket as text: the secret part of the address of a download. */
  create(ticket: Ticket): string;
  /** Returns the ticket from its text; null if the signature is wrong or the ticket has expired. */
  read(text: string): ValidTicket | null;
}

export interface TicketOptions {
  /** Derives the signing key from the login's secret; from a random secret if the login has none. */
  readonly derive: DeriveSecret;
  /** Whether the use of a ticket is also recorded in the database, if it has the extension `operations`. */
  readonly isShared: boolean;
  /** Returns the time in milliseconds since 1970. Default: now(). */
  readonly clock?: () => number;
}

interface SignedTicket extends Ticket {
  readonly until: number;
  readonly name: string;
}

export function createTickets({ derive, isShared, clock = now }: TicketOptions): Tickets {
  const sign = deriveFrom(Buffer.from(derive("export ticket 2")));
  /** The expiry times of used tickets, by name, in the order of their use. */
  const used = new Map<string, number>();

  const useHere = ({ name, until }: SignedTicket): boolean => {
    for (const [other, end] of used) {
      if (end >= clock()) break;
      used.delete(other);
    }
    if (used.has(name)) return false;
    if (used.size >= MAX_USED) throw tooMany;
    used.set(name, until);
    return true;
  };

  const useAnywhere = async (db: Database, ticket: SignedTicket): Promise<boolean> => {
    try {
      return !isShared || (await recordUse(db, ticket));
    } catch (error) {
      used.delete(ticket.name);
      throw error;
    }
  };

  return {
    create(ticket) {
      const signed: SignedTicket = {
        ...ticket,
        until: clock() + TICKET_MS,
        name: generateSecret(),
      };
      const text = Buffer.from(JSON.stringify(signed)).toString("base64url");
      return `${text}.${sign(text)}`;
    },
    read(shown) {
      const [text = "", signature = "", more] = shown.split(".", 3);
      if (more !== undefined || !secretOf(sign(text)).matches(signature)) return null;
      const signed = JSON.parse(Buffer.from(text, "base64url").toString()) as SignedTicket;
      if (clock() > signed.until) return null;
      return {
        request: signed.request,
        user: signed.user,
        use: async (db) => useHere(signed) && useAnywhere(db, signed),
      };
    },
  };
}

async function recordUse(db: Database, { name, until }: SignedTicket): Promise<boolean> {
  try {
    return !(await hasOperations(db)) || (await useOnce(db, name, until));
  } catch (error) {
    // On a standby, the use is recorded in memory only.
    if (error instanceof WorkerError && error.code === "read_only_server") return true;
    throw error;
  }
}

const tooMany = new Refusal(503, "busy", "too many downloads at once; try again in a minute");
