// Our answers on somebody else's node:http server, for the requests that it hands over. The connections
// are that server's, and so are their number, their timeouts and what it does with the rest.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createConnections } from "./bounds/connections.ts";
import { defaultLimits, type Limits } from "./bounds/limits.ts";
import { createAnswer, type ExchangeOptions } from "./exchange.ts";

export interface Mount {
  readonly answer: (req: IncomingMessage, res: ServerResponse) => void;
  /** Ends event streams; from now on every answer is its connection's last. */
  readonly close: () => void;
}

export function createMount(options: ExchangeOptions, given: Partial<Limits> = {}): Mount {
  const limits: Limits = { ...defaultLimits, ...given, connections: Number.POSITIVE_INFINITY };
  const connections = createConnections(limits, false);
  const answer = createAnswer(options, limits, connections);
  return {
    // Frameworks cut the path under which they have mounted us off the url.
    answer: (req, res) => {
      const { originalUrl } = req as IncomingMessage & { readonly originalUrl?: unknown };
      answer(req, res, false, typeof originalUrl === "string" ? originalUrl : req.url);
    },
    close: () => connections.drain(),
  };
}
