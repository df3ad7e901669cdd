// Checks every request before its route handles it, in this order:
//
//   1  in the mode `none` (no login): the request comes from this machine and not through a proxy
//   2  if the route requires a login: the login
//   3  for a read, also of the metrics: the request is a navigation, or no page of another site has sent it
//   4  for a write: neither the user nor the admin nor the database server is read-only, and the CSRF token is valid
//
// Which checks apply depends only on the mode and on the `access` of the route.
import { wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { READ_ONLY_SERVER } from "../../database/inspect/read-only-server.ts";
import { trustedPeer } from "../../http/bounds/client-address.ts";
import type { Endpoint, Exchange, Policy } from "../../http/endpoint.ts";
import { Refusal } from "../../http/refusal.ts";
import type { HttpRequest } from "../../http/request.ts";
import type { AuthMode } from "../access/auth-config.ts";
import {
  createAuthentication,
  type LoginResult,
  unauthorizedRefusal,
} from "../access/authentication.ts";
import { type CsrfGuard, checkRead } from "../access/csrf.ts";
import { createLoginThrottle } from "../access/login-throttle.ts";
import type { CheckedUser, OwnLogin } from "../access/own-login.ts";
import type { RefusalKind, RefusalLog } from "../access/refusal-log.ts";
import { createUserLabel } from "../access/user-header.ts";
import type { AdminServerConfig } from "../config/config.ts";
import { assertFromHere } from "../config/listen-address.ts";
import type { Metrics } from "../feed/metrics.ts";
import type { Readiness } from "../live/readiness.ts";
import type { PageHeaders } from "../page/headers.ts";
import type { Access } from "./admin.ts";

/** A row of the route table, bound to its admin. */
export interface AdminEndpoint extends Endpoint {
  readonly access: Access;
  /** The row's path without the base path: the route in metrics and in the log. */
  readonly label: string;
}

export interface PolicyParts {
  readonly config: AdminServerConfig;
  readonly csrf: CsrfGuard;
  readonly metrics: Metrics;
  readonly refusals: RefusalLog;
  readonly readiness: Readiness;
  readonly headers: PageHeaders;
  /** In mode `custom`, the application's login; otherwise null. */
  readonly ownLogin: OwnLogin | null;
}

export function createPolicy({
  config,
  csrf,
  metrics,
  refusals,
  readiness,
  headers,
  ownLogin,
}: PolicyParts): Policy<AdminEndpoint> {
  const onLogin = (result: LoginResult, { notes }: HttpRequest) => {
    metrics.login(result);
    if (result !== "accepted") notes["login"] = result;
  };
  const { auth, label, metricsToken } = config;
  const throttle = createLoginThrottle();
  const authentication = createAuthentication({ auth, label, metricsToken, onLogin, throttle });
  const { mode } = auth;
  const { userHeader, trustedProxies } = config;
  const labelOf =
    userHeader === null ? null : createUserLabel(userHeader, trustedPeer(trustedProxies));
  if (userHeader !== null && trustedProxies.length === 0) {
    config.logger.warn({ header: userHeader }, UNTRUSTED);
  }

  const identify = async (request: HttpRequest, isScrape: boolean): Promise<CheckedUser> => {
    if (ownLogin === null) {
      const login = authentication.identify(request, isScrape);
      return { name: labelOf?.(request) ?? login, readOnly: false };
    }
    const scrape = isScrape ? authentication.scrape(request) : null;
    if (scrape === "accepted") return { name: "metrics", readOnly: true };
    const user = await ownLogin.userOf(request);
    if (user !== null) return user;
    if (scrape === "wrong") onLogin("wrong", request);
    throw unauthorizedRefusal(auth, label, "log in to the application first");
  };

  const admit = async (request: HttpRequest, endpoint: AdminEndpoint | null) => {
    if (mode === "none") assertFromHere(request);
    if (endpoint === null) return;
    const { access } = endpoint;
    const user = needsLogin(access, isByBrowser(mode))
      ? await identify(request, access === "metrics")
      : null;
    if (user !== null) request.notes["user"] = user.name;
    if (user?.readOnly) request.notes["readOnly"] = true;
    if (access === "read" || access === "metrics") checkRead(request);
    if (access !== "write") return;
    if (user?.readOnly) throw new Refusal(403, "read_only", "this login may not change anything");
    const refusal = await readOnlyRefusal(config.readOnly, readiness);
    if (refusal !== null) throw refusal;
    csrf.checkWrite(request);
  };

  return {
    admit,
    headers: (endpoint, status) => {
      if (status >= 400) return headers.usual;
      if (endpoint?.access === "hashed") return headers.hashed;
      return endpoint?.access === "asset" ? headers.asset : headers.usual;
    },
    answered: (exchange) => {
      const { request, endpoint, status, durationMs } = exchange;
      metrics.observe(request.method, endpoint?.label ?? "unmatched", status, durationMs);
      logAccess(config.logger, refusals, exchange);
    },
  };
}

const UNTRUSTED =
  "the header that names users is ignored: no proxy is trusted; name yours with --trusted-proxy or trustedProxies";

/** Whether the browser sends the login by itself, so that the page and its assets can require a login. */
export const isByBrowser = (mode: AuthMode): boolean => mode === "basic" || mode === "custom";

/** Whether the route requires a login. */
export function needsLogin(access: Access, byBrowser: boolean): boolean {
  switch (access) {
    case "open":
    case "ticket":
      return false;
    case "page":
    case "asset":
    case "hashed":
      return byBrowser;
    case "read":
    case "metrics":
    case "write":
      return true;
    default:
      return access satisfies never;
  }
}

/** From the headers, only the user's name and, behind a trusted proxy, the client's address are logged. */
function logAccess(
  logger: Logger,
  refusals: RefusalLog,
  { request, endpoint, status, code, durationMs }: Exchange<AdminEndpoint>,
): void {
  const fields = {
    request: request.id,
    client: request.client,
    method: request.method,
    route: endpoint?.label ?? "unmatched",
    status,
    ...(code === null ? {} : { code }),
    durationMs: Math.round(durationMs),
    ...request.notes,
  };
  const kind = refusalKind(code, request.notes);
  if (kind !== null) refusals.log(kind, request.client, fields);
  else if (endpoint?.access === "write" && "user" in request.notes && code !== "read_only") {
    logger.info(fields, "write request");
  } else logger.debug(fields, "request");
}

function refusalKind(code: string | null, { login }: HttpRequest["notes"]): RefusalKind | null {
  if (code === "csrf" || code === "host" || code === "proxy") return code;
  if (login === "wrong") return "wrong_login";
  return login === "throttled" ? "throttled_login" : null;
}

/**
 * How long a write waits for the check whether the database server is read-only. If there is no result in time, the
 * write is attempted.
 */
export const READ_ONLY_CHECK_MS = 500;

async function readOnlyRefusal(isReadOnly: boolean, readiness: Readiness): Promise<Refusal | null> {
  if (isReadOnly) {
    return new Refusal(
      403,
      "read_only",
      "this admin is read-only (option --read-only or readOnly)",
    );
  }
  const answered = new AbortController();
  const timeout = wait(READ_ONLY_CHECK_MS, answered.signal).then(() => null);
  const state = await Promise.race([readiness.check(), timeout]).finally(() => answered.abort());
  return state?.isReadOnlyServer === true ? serverRefusal() : null;
}

/** If a write failed because the server is read-only, returns the refusal `read_only`; otherwise the error itself. */
export function orReadOnly(error: unknown): unknown {
  const isReadOnly = error instanceof WorkerError && error.code === "read_only_server";
  return isReadOnly ? serverRefusal(error) : error;
}

function serverRefusal(cause?: unknown): Refusal {
  const refusal = new Refusal(403, "read_only", READ_ONLY_SERVER);
  return cause === undefined ? refusal : Object.assign(refusal, { cause });
}
