// Answers requests on an application's own node:http server. The connections are that server's, and so are
// their number, their timeouts and all other requests.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createConnections } from "./bounds/connections.ts";
import { defaultLimits, type Limits } from "./bounds/limits.ts";
import { createAnswer, type ExchangeOptions } from "./exchange.ts";

export interface Mount {
  readonly answer: (req: IncomingMessage, res: ServerResponse) => void;
  /** Ends event streams. Every later response is its connection's last. */
  readonly close: () => void;
}

export function createMount(options: ExchangeOptions, given: Partial<Limits> = {}): Mount {
  const limits: Limits = { ...defaultLimits, ...given, connections: Number.POSITIVE_INFINITY };
  const connections = createConnections(limits, false);
  const answer = createAnswer(options, limits, connections);
  return {
    // Frameworks remove the path of the mount from the url.
    answer: (req, res) => {
      const { originalUrl } = req as IncomingMessage & { readonly originalUrl?: unknown };
      answer(req, res, false, typeof originalUrl === "string" ? originalUrl : req.url);
    },
    close: () => connections.drain(),
  };
}
