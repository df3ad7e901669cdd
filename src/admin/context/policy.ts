// The rules that hold for every request, in one place and in this order: the host (mode none), the
// login, read-only, the CSRF token. What they need to know about a route is its `access`.
import type { Logger } from "../../base/logger.ts";
import type { Endpoint, Exchange, Policy } from "../../http/endpoint.ts";
import { Refusal } from "../../http/refusal.ts";
import type { HttpRequest } from "../../http/request.ts";
import { createAuthentication } from "../access/authentication.ts";
import { type CsrfGuard, checkRead } from "../access/csrf.ts";
import type { AdminServerConfig } from "../config/config.ts";
import { isLoopbackHost } from "../config/listen-address.ts";
import type { Metrics } from "../feed/metrics.ts";
import { assetHeaders, securityHeaders } from "../page/headers.ts";
import type { Access } from "./admin.ts";

/** A row of the table, bound to its server. */
export interface AdminEndpoint extends Endpoint {
  readonly access: Access;
  /** The row's path without the base path: the label in metrics and log. */
  readonly label: string;
}

export function createPolicy(
  config: AdminServerConfig,
  csrf: CsrfGuard,
  metrics: Metrics,
): Policy<AdminEndpoint> {
  const authentication = createAuthentication(config.auth);
  const { mode } = config.auth;

  const admit = (request: HttpRequest, endpoint: AdminEndpoint | null) => {
    if (mode === "none" && !isLoopbackHost(request.host)) {
      const message = "this server is for this machine only: use http://127.0.0.1 or localhost";
      throw new Refusal(403, "host", message);
    }
    if (endpoint === null) return;
    const { access } = endpoint;
    if (needsLogin(access, mode === "basic")) {
      request.notes["user"] = authentication.identify(request);
    }
    if (access === "read") checkRead(request);
    if (access !== "write") return;
    if (config.readOnly) {
      throw new Refusal(403, "read_only", "this admin is read-only; start one without --read-only");
    }
    csrf.checkWrite(request);
  };

  return {
    admit,
    headers: (endpoint, status) =>
      endpoint?.access === "asset" && status < 400 ? assetHeaders : securityHeaders,
    answered: (exchange) => {
      const { request, endpoint, status, durationMs } = exchange;
      metrics.observe(request.method, endpoint?.label ?? "unmatched", status, durationMs);
      logAccess(config.logger, exchange);
    },
  };
}

/** Whether the route asks for credentials. `byBrowser`: the browser logs in by itself (mode basic). */
export function needsLogin(access: Access, byBrowser: boolean): boolean {
  switch (access) {
    case "open":
      return false;
    case "page":
    case "asset":
      return byBrowser;
    case "read":
    case "write":
      return true;
    default:
      return access satisfies never;
  }
}

/**
 * A line for every write at info, whatever became of it, except what a guesser could fill the log
 * with; the rest at debug. Never a header.
 */
function logAccess(logger: Logger, exchange: Exchange<AdminEndpoint>): void {
  const { request, endpoint, status, code, durationMs } = exchange;
  const fields = {
    request: request.id,
    client: request.remoteAddress,
    method: request.method,
    route: endpoint?.label ?? "unmatched",
    status,
    ...(code === null ? {} : { code }),
    durationMs: Math.round(durationMs),
    ...request.notes,
  };
  if (endpoint?.access === "write" && status !== 429) logger.info(fields, "write request");
  else logger.debug(fields, "request");
}
