// Puts the admin together from its configuration: all but the server on which it answers, which is one
// of its own (server.ts) or an application's (handler.ts).

import { now } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { OnAudit } from "../commands/audit/audit-entry.ts";
import { createAuditTrail } from "../commands/audit/audit-trail.ts";
import { atWork } from "../commands/operations/model/operation.ts";
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
import { type AdminEndpoint, createPolicy, needsLogin } from "./context/policy.ts";
import { ASKED_BEFORE_MS, orReadOnly } from "./context/read-only.ts";
import { inTime, patientAsker } from "./context/request-time.ts";
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
  const { lineMs } = limits;
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
      unreadBytesInAll: limits.unreadBytesInAll,
      stalledMs: limits.stalledMs,
      keepAliveMs: limits.keepAliveMs,
      silenceMs: Math.max(defaultLimits.silenceMs, limits.keepAliveMs),
      lineMs: limits.lineMs,
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
  const time = { limitMs, patienceMs: limits.lineMs };
  const read = (request: HttpRequest) =>
    inTime(request, time, (scope) => operation.run({ ...admin, databases: of(scope) }, request));
  const readAgain = async (request: HttpRequest) => {
    const asOf = new Date(now()).toISOString();
    const answer = await read(request);
    return conditional(request, { ...answer, headers: { [AS_OF]: asOf, ...answer.headers } });
  };
  const patienceMs = Math.max(limits.lineMs - ASKED_BEFORE_MS, limits.lineMs / 2);
  // A write that has begun is finished, whoever has left.
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
