// Builds the admin from its configuration, for server.ts and handler.ts.

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
import { createDispatcher, errorResponse } from "../http/endpoint.ts";
import type { ExchangeOptions } from "../http/exchange.ts";
import { stopping } from "../http/refusal.ts";
import { AS_OF, conditional } from "../http/repeat/conditional.ts";
import type { HttpRequest } from "../http/request.ts";
import { createInsight } from "../insight/insight.ts";
import { createCsrfGuard } from "./access/csrf.ts";
import { createOwnLogin, type LoginTimes } from "./access/own-login.ts";
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
  createPolicy,
  needsLogin,
  orReadOnly,
  READ_ONLY_CHECK_MS,
} from "./context/policy.ts";
import { inTime, writeScope } from "./context/request-time.ts";
import { createFeed, type FeedOptions } from "./feed/feed.ts";
import { createMetrics } from "./feed/metrics.ts";
import { insightSources } from "./insight/sources.ts";
import { createDegradationLog } from "./live/degradation-log.ts";
import { createReadiness } from "./live/readiness.ts";
import { createOperationRunner, type RunnerTimes } from "./operations/operation-runner.ts";
import { operationSource, publishOperations } from "./operations/operation-source.ts";
import { createAssetStore, type EmbeddedAssets } from "./page/assets.ts";
import { pageHeaders } from "./page/headers.ts";
import { routes } from "./routes.ts";

/** Replacements of parts, for tests. */
export interface AdminParts {
  readonly assets?: () => Promise<EmbeddedAssets>;
  readonly limits?: Partial<Limits>;
  readonly feed?: Partial<FeedOptions>;
  /** The times of an application's own login (mode `custom`). */
  readonly login?: Partial<LoginTimes>;
  readonly runner?: RunnerTimes;
}

export interface Application {
  readonly exchange: ExchangeOptions;
  readonly limits: Partial<Limits>;
  /** Called once, at the start. */
  readonly open: () => Promise<void>;
  /** Called when a stop begins, while requests may still be under way. */
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
  const report = { logger, onDegraded: degradationLog.log };
  const databases = adminDatabases({ pool, schema, connectionWaitMs: limits.waitMs, ...report });
  const { reads, quickReads, writes } = databases;
  const onFailure = (error: unknown, request: HttpRequest) => errorResponse(error, request, report);
  const ownLogin = createOwnLogin(auth.authenticate, { onFailure, ...parts.login });
  // Makes the page receive the effects of a change at once.
  const changed = () => {
    insight.changed();
    feed.changed();
  };
  const onAudit: OnAudit = (entry) => {
    // For an operation, whose entry has a query, operations.onChange() below calls changed().
    if (entry.query === null) changed();
    return config.onAudit?.(entry);
  };
  const audit = createAuditTrail({ db: writes, logger, onAudit });
  const readiness = createReadiness(reads, logger);
  const tools = { reads, quickReads, writes, audit, readiness, logger };
  const operations = createOperationRunner({ ...tools, ...parts.runner });
  const indexBuilds = createIndexBuilds(pool, databases.reads, logger);
  const insight = createInsight(databases.feed);
  const feed = createFeed(databases.feed, {
    sources: [...insightSources(insight), operationSource(operations)],
    maxViewers: limits.viewers,
    maxViewersPerClient: limits.viewersPerClient,
    stalledMs: limits.stalledMs,
    ...report,
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
    whileLoggedIn: ownLogin?.whileLoggedIn ?? ((request, open) => open(request)),
    exportTickets: createTickets({ derive, isShared: !config.readOnly }),
    downloads: createWork(limits.downloads, limits.downloadsPerClient),
    routes,
  };
  const endpoints = routes.map((route) => bind(route, admin, databases.of));
  if (basePath !== "/") endpoints.push(toBasePath(basePath));
  const headers = pageHeaders(hstsOf(config));
  const policy = createPolicy({ config, csrf, metrics, refusals, readiness, headers, ownLogin });
  // Without a listener the error of an idle connection would end the process.
  const onLost = (error: Error) => {
    logger.debug({ error: messageOf(error) }, "an idle database connection was lost");
  };
  return {
    exchange: {
      handle: createDispatcher(endpoints, policy, report),
      headers: headers.usual,
      ...report,
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
      memoryWaitMs: limits.waitMs,
      ...parts.limits,
    },
    open: async () => {
      pool.on("error", onLost);
      // The runner deletes old rows, so a read-only admin does not start it.
      if (!config.readOnly) await operations.start();
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
 * Returns the header Strict-Transport-Security. Not sent on a loopback address, because the header would apply to all
 * ports of this machine. With max-age=0, browsers discard an earlier header.
 */
function hstsOf({ certificate, hsts, listen }: AdminServerConfig): string | null {
  const isLocal = "host" in listen && loopbackOf(listen) !== null;
  if (certificate === null || isLocal) return null;
  return hsts ? "max-age=31536000" : "max-age=0";
}

/** The minimum time limit of a download until its headers are sent. */
const DOWNLOAD_START_MS = 3_000;

function bind(route: AdminRoute, admin: Admin, databasesOf: DatabasesOf): AdminEndpoint {
  const { method, path, access, operation, isLong = false } = route;
  const { basePath, limits } = admin.config;
  const limitMs = isLong ? Math.max(limits.requestMs, DOWNLOAD_START_MS) : limits.requestMs;
  const time = { limitMs, waitMs: limits.waitMs };
  const read = (request: HttpRequest) =>
    inTime(request, time, (scope) =>
      operation.run({ ...admin, databases: databasesOf(scope) }, request),
    );
  const readAgain = async (request: HttpRequest) => {
    const asOf = new Date(now()).toISOString();
    const answer = await read(request);
    return conditional(request, { ...answer, headers: { [AS_OF]: asOf, ...answer.headers } });
  };
  const writeWaitMs = Math.max(limits.waitMs - READ_ONLY_CHECK_MS, limits.waitMs / 2);
  // A write is finished even if its client disconnects.
  const write = async (request: HttpRequest) => {
    if (request.closing.aborted && !request.left.aborted) throw stopping;
    try {
      const databases = databasesOf(writeScope(writeWaitMs));
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

/** Redirects `/queue` to the base path `/queue/`, because the page's links are relative to a folder. */
function toBasePath(basePath: string): AdminEndpoint {
  return {
    method: "GET",
    path: basePath.slice(0, -1),
    access: "page",
    label: "/",
    run: () => ({ status: 308, headers: { location: basePath }, body: null }),
  };
}
