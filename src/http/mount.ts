// Answers requests on an application's own node:http server. The connections belong to that server, which limits their
// number and their idle time. This file answers only the requests that the application passes on.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createConnections } from "./bounds/connections.ts";
import { defaultLimits, type Limits } from "./bounds/limits.ts";
import { createAnswer, type ExchangeOptions } from "./exchange.ts";

export interface Mount {
  readonly answer: (req: IncomingMessage, res: ServerResponse) => void;
  /** Ends event streams and downloads, and refuses new ones. Each later response is the last of its connection. */
  readonly close: () => void;
}

export function createMount(options: ExchangeOptions, given: Partial<Limits> = {}): Mount {
  const limits: Limits = { ...defaultLimits, ...given, connections: Number.POSITIVE_INFINITY };
  const connections = createConnections(limits, false);
  const answer = createAnswer(options, limits, connections);
  return {
    // Frameworks remove the mount's path from `url`, and keep the complete URL in `originalUrl`.
    answer: (req, res) => {
      const { originalUrl } = req as IncomingMessage & { readonly originalUrl?: unknown };
      answer(req, res, false, typeof originalUrl === "string" ? originalUrl : req.url);
    },
    close: () => connections.drain(),
  };
}
