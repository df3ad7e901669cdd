// Puts the admin together from its configuration: all but the server on which it answers, which is one
// of its own (server.ts) or an application's (handler.ts).

import { clearTimeout, monotonic, now, setTimeout } from "../base/clock.ts";
import { messageOf, WorkerError } from "../base/errors.ts";
import type { OnAudit } from "../commands/audit/audit-entry.ts";
import { createAuditTrail } from "../commands/audit/audit-trail.ts";
import { atWork } from "../commands/operations/model/operation.ts";
import type { RequestScope } from "../database/connection/pool.ts";
import { createIndexBuilds } from "../database/schema/indexes/index-builds.ts";
import { clientAddress } from "../http/bounds/client-address.ts";
import type { Limits } from "../http/bounds/limits.ts";
import { defaultLimits } from "../http/bounds/limits.ts";
import { createWork } from "../http/bounds/work.ts";
import { createDispatcher } from "../http/endpoint.ts";
import type { ExchangeOptions } from "../http/exchange.ts";
import { AS_OF, conditional } from "../http/repeat/conditional.ts";
import type { HttpRequest } from "../http/request.ts";
import { createInsight } from "../insight/insight.ts";
import { createCsrfGuard } from "./access/csrf.ts";
import { createRefusalLog } from "./access/refusal-log.ts";
import { generatedDerivation } from "./access/secret.ts";
import type { AdminServerConfig } from "./config/config.ts";
import { adminDatabases, type DatabasesOf } from "./config/databases.ts";
import { loopbackOf } from "./config/listen-address.ts";
import type { Admin, AdminRoute } from "./context/admin.ts";
import { SMALL_ANSWER_BYTES } from "./context/answer-bytes.ts";
import { createTickets } from "./context/export-tickets.ts";
import {
  type AdminEndpoint,
  ASKED_BEFORE_MS,
  createPolicy,
  needsLogin,
  orReadOnly,
} from "./context/policy.ts";
import { createFeed, type FeedOptions } from "./feed/feed.ts";
import { createMetrics } from "./feed/metrics.ts";
import { insightSources } from "./insight/sources.ts";
import { createDegradationLog } from "./live/degradation-log.ts";
import { createReadiness } from "./live/readiness.ts";
import { createOperationRunner } from "./operations/operation-runner.ts";
import { operationSource, publishOperations } from "./operations/operation-source.ts";
import { createAssetStore, type EmbeddedAssets } from "./page/assets.ts";
import { pageHeaders } from "./page/headers.ts";
import { routes } from "./routes.ts";

/** For tests and for embedding: what production never changes. */
export interface AdminParts {
  readonly assets?: () => Promise<EmbeddedAssets>;
  readonly limits?: Partial<Limits>;
  readonly feed?: Partial<FeedOptions>;
}

export interface Application {
  readonly exchange: ExchangeOptions;
  readonly limits: Partial<Limits>;
  /** Once it can be asked. */
  readonly open: () => Promise<void>;
  /** Before the last requests are waited for, and after that. */
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

export async function createApplication(
  config: AdminServerConfig,
  parts: AdminParts,
): Promise<Application> {
  const { pool, schema, logger, auth, basePath, limits } = config;
  const [derive, metrics] = await Promise.all([
    auth.secret?.derivation() ?? generatedDerivation(),
    createMetrics(config.certificate),
  ]);
  const csrf = createCsrfGuard(derive);
  const refusals = createRefusalLog(logger);
  const degradationLog = createDegradationLog(logger, metrics.degraded);
  const { waitMs: lineMs } = limits;
  const databases = adminDatabases({
    pool,
    schema,
    logger,
    lineMs,
    onDegraded: degradationLog.tell,
  });
  const { reads, quickReads, writes } = databases;
  // Who has mended something sees it: nobody waits for the next round.
  const changed = () => {
    insight.changed();
    feed.changed();
  };
  const onAudit: OnAudit = (entry) => {
    // An operation by query says itself when it has come to rest.
    if (entry.query === null) changed();
    return config.onAudit?.(entry);
  };
  const audit = createAuditTrail({ db: writes, logger, onAudit });
  const readiness = createReadiness(reads);
  const operations = createOperationRunner({ reads, quickReads, writes, audit, readiness, logger });
  const indexBuilds = createIndexBuilds(pool, databases.reads, logger);
  const insight = createInsight(databases.feed);
  const feed = createFeed(databases.feed, {
    sources: [...insightSources(insight), operationSource(operations)],
    maxViewers: limits.viewers,
    maxViewersPerClient: limits.viewersPerClient,
    patienceMs: limits.stalledMs,
    logger,
    onDegraded: degradationLog.tell,
    ...parts.feed,
  });
  publishOperations(operations, feed);
  operations.onChange(({ state }) => {
    if (!atWork.includes(state)) changed();
  });
  const admin: Admin = {
    config,
    audit,
    operations,
    insight,
    databases,
    csrfToken: csrf.token,
    assets: createAssetStore(parts.assets),
    feed,
    metrics,
    indexBuilds,
    readiness,
    exportTickets: createTickets({ derive, db: config.readOnly ? null : writes }),
    downloads: createWork(limits.downloads, limits.downloadsPerClient),
    routes,
  };
  const endpoints = routes.map((route) => bind(route, admin, databases.of));
  if (basePath !== "/") endpoints.push(toBasePath(basePath));
  const headers = pageHeaders(hstsOf(config));
  const policy = createPolicy({ config, csrf, metrics, refusals, readiness, headers, ...parts });
  // The loss of an idle connection is an event that would end the process if nobody listened.
  const onLost = (error: Error) => {
    logger.debug({ error: messageOf(error) }, "an idle database connection was lost");
  };
  return {
    exchange: {
      handle: createDispatcher(endpoints, policy, { logger, onDegraded: degradationLog.tell }),
      headers: headers.usual,
      logger,
      onDegraded: degradationLog.tell,
      clientOf: clientAddress(config.trustedProxies),
    },
    limits: {
      connections: limits.connections,
      unanswered: limits.requests,
      unansweredPerClient: limits.requestsPerClient,
      pipelined: limits.pipelined,
      unreadBytes: limits.unreadBytes,
      unreadBytesInAll: limits.totalUnreadBytes,
      stalledMs: limits.stalledMs,
      keepAliveMs: limits.keepAliveMs,
      silenceMs: Math.max(defaultLimits.silenceMs, limits.keepAliveMs),
      lineMs: limits.waitMs,
      ...parts.limits,
    },
    open: async () => {
      pool.on("error", onLost);
      await operations.start();
    },
    drain: () => indexBuilds.stop(),
    close: async () => {
      await operations.stop();
      await feed.stop();
      pool.off("error", onLost);
      refusals.close();
      degradationLog.close();
    },
  };
}

/**
 * It is of the host, whatever the port: so never for this machine's own name. Off, it takes back what
 * was said before.
 */
function hstsOf({ certificate, hsts, listen }: AdminServerConfig): string | null {
  const isLocal = "host" in listen && loopbackOf(listen) !== null;
  if (certificate === null || isLocal) return null;
  return hsts ? "max-age=31536000" : "max-age=0";
}

/** How long a download may take until its headers; what follows has bounds of its own. */
const DOWNLOAD_BEGIN_MS = 3_000;

function bind(route: AdminRoute, admin: Admin, of: DatabasesOf): AdminEndpoint {
  const { method, path, access, operation, isLong = false } = route;
  const { basePath, limits } = admin.config;
  const limitMs = isLong ? Math.max(limits.requestMs, DOWNLOAD_BEGIN_MS) : limits.requestMs;
  const time = { limitMs, patienceMs: limits.waitMs };
  const read = (request: HttpRequest) =>
    inTime(request, time, (scope) => operation.run({ ...admin, databases: of(scope) }, request));
  const readAgain = async (request: HttpRequest) => {
    const asOf = new Date(now()).toISOString();
    const answer = await read(request);
    return conditional(request, { ...answer, headers: { [AS_OF]: asOf, ...answer.headers } });
  };
  const patienceMs = Math.max(limits.waitMs - ASKED_BEFORE_MS, limits.waitMs / 2);
  // A write that has begun is finished, also when its client has left.
  const write = async (request: HttpRequest) => {
    try {
      const databases = of(patientAsker(patienceMs));
      return await operation.run({ ...admin, databases }, request);
    } catch (error) {
      throw orReadOnly(error);
    }
  };
  const run = access === "write" ? write : access === "read" ? readAgain : read;
  const { reserves = () => SMALL_ANSWER_BYTES } = operation;
  return {
    method,
    path: basePath + path.slice(1),
    access,
    label: path,
    run: async (request) => {
      if (needsLogin(access, false)) await request.reserve(reserves(request));
      return run(request);
    },
  };
}

/** `/queue` → `/queue/`: the page's links are relative to a folder. */
function toBasePath(basePath: string): AdminEndpoint {
  return {
    method: "GET",
    path: basePath.slice(0, -1),
    access: "page",
    label: "/",
    run: () => ({ status: 308, headers: { location: basePath }, body: null }),
  };
}

/**
 * How long a request may take until its answer begins. When its time is over, or its client has left,
 * the statement that it has under way is stopped. An answer that has begun, a stream, takes as long as its reader is
 * there. How long a request may wait in line for a connection and behind locks bounds writes, too.
 */
interface RequestTime {
  readonly limitMs: number;
  readonly patienceMs: number;
}

/** For work that is finished even when its client has left: only how long it waits for others is bounded. */
function patientAsker(patienceMs: number): RequestScope {
  const untilMs = monotonic() + patienceMs;
  return {
    signal: NEVER,
    leftMs: () => Number.POSITIVE_INFINITY,
    patienceMs: () => Math.max(0, untilMs - monotonic()),
  };
}

const NEVER = new AbortController().signal;

/** Does the work of a request in its time. */
export async function inTime<T>(
  request: HttpRequest,
  { limitMs, patienceMs: patience }: RequestTime,
  work: (scope: RequestScope) => T | Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Work that throws at once is waited for by no code, and its client leaves all the same.
  ended.catch(() => {});
  const end = (reason: WorkerError) => {
    over.abort(reason);
    reject(reason);
  };
  // After the answer the connection's end is that of the request, too.
  const leave = () => end(hasLeft);
  if (request.left.aborted) leave();
  else request.left.addEventListener("abort", leave, { once: true });
  let untilMs = monotonic() + limitMs;
  const timer = setTimeout(() => end(tooLong(limitMs)), limitMs);
  let patientUntilMs = monotonic() + patience;
  const leftMs = () => Math.max(0, untilMs - monotonic());
  const patienceMs = () => Math.max(0, patientUntilMs - monotonic());
  try {
    return await Promise.race([ended, work({ signal: over.signal, leftMs, patienceMs })]);
  } finally {
    clearTimeout(timer);
    untilMs = Number.POSITIVE_INFINITY;
    patientUntilMs = Number.POSITIVE_INFINITY;
    // What is raced against holds the answer for as long as it is open: until the answer has been read.
    reject(hasLeft);
  }
}

// One for all: every request ends with it, mostly after its answer, and a stack of its own costs more than the rest.
const hasLeft = new WorkerError("aborted", "the client has left");

function tooLong(limitMs: number): WorkerError {
  const message = `this took more than ${limitMs / 1_000} s and was stopped; ask for less, or try again`;
  return new WorkerError("timeout", message);
}
