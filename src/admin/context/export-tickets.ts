// Addresses that download one export once, within a minute, without a login: for a browser that is
// logged in by a header, which it cannot send when it saves a file. What an address gives was fixed when
// somebody with a login asked for it.
import { monotonic } from "../../base/clock.ts";
import type { ExportRequest } from "../../queue/export/export-request.ts";
import { generateSecret } from "../access/secret.ts";

export const TICKET_MS = 60_000;
const MOST_TICKETS = 256;

export interface Ticket {
  readonly request: ExportRequest;
  /** Who asked for it, for the log. */
  readonly user: unknown;
}

export interface Tickets {
  /** The secret part of the address. The oldest makes room for it. */
  give(ticket: Ticket): string;
  /** What the address gives, once; null where it gives nothing, or no longer does. */
  take(secret: string): Ticket | null;
  /** The same without using it up: for HEAD. */
  look(secret: string): Ticket | null;
}

export function createTickets(clock: () => number = monotonic): Tickets {
  const tickets = new Map<string, Ticket & { readonly until: number }>();
  const look = (secret: string) => {
    // 128 random bits and more are not guessed letter by letter in a minute.
    const ticket = tickets.get(secret);
    return ticket === undefined || clock() > ticket.until ? null : ticket;
  };
  return {
    look,
    give(ticket) {
      const secret = generateSecret();
      const [oldest] = tickets.keys();
      if (tickets.size >= MOST_TICKETS && oldest !== undefined) tickets.delete(oldest);
      tickets.set(secret, { ...ticket, until: clock() + TICKET_MS });
      return secret;
    },
    take(secret) {
      const ticket = look(secret);
      tickets.delete(secret);
      return ticket;
    },
  };
}
