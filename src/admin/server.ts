// Puts an admin server together from its configuration, and runs it as a service.

import { messageOf } from "../base/errors.ts";
import type { Service } from "../base/service.ts";
import { createIndexBuilds } from "../database/schema/indexes/index-builds.ts";
import { createDispatcher } from "../http/endpoint.ts";
import type { Limits } from "../http/limits.ts";
import type { HttpRequest } from "../http/request.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";
import { createAuditTrail } from "../queue/audit/audit-trail.ts";
import { createCsrfGuard } from "./access/csrf.ts";
import type { AdminServerConfig } from "./config/config.ts";
import { adminDatabases } from "./config/databases.ts";
import { authority } from "./config/listen-address.ts";
import type { Admin, AdminRoute } from "./context/admin.ts";
import { type AdminEndpoint, createPolicy } from "./context/policy.ts";
import { createFeed, type FeedOptions } from "./feed/feed.ts";
import { createMetrics } from "./feed/metrics.ts";
import { createReadiness } from "./live/readiness.ts";
import { createOperationRunner } from "./operations/operation-runner.ts";
import { createAssetStore, type EmbeddedAssets } from "./page/assets.ts";
import { securityHeaders } from "./page/headers.ts";
import { routes } from "./routes.ts";

/** An admin server: start() resolves once it listens, stop() ends what is under way. */
export interface AdminServer extends Service {
  /** Where it listens; known after start(). */
  readonly address: { readonly host: string; readonly port: number };
  /** What to open in a browser; known after start(). */
  readonly url: string;
  /** The password or token that was generated, to be shown once; null when one was configured. */
  readonly generatedSecret: string | null;
}

/** For tests and for embedding: what production never changes. */
export interface AdminServerParts {
  readonly assets?: () => Promise<EmbeddedAssets>;
  readonly limits?: Partial<Limits>;
  readonly feed?: Partial<FeedOptions>;
}

/** A server that is not running yet. */
export async function createAdminServer(
  config: AdminServerConfig,
  parts: AdminServerParts = {},
): Promise<AdminServer> {
  const { listen, logger, auth, basePath } = config;
  const csrf = createCsrfGuard();
  const metrics = await createMetrics();
  const databases = adminDatabases(config.pool, config.schema, logger);
  const audit = createAuditTrail({ db: databases.writes, logger, onAudit: config.onAudit });
  const { reads, writes } = databases;
  const operations = createOperationRunner({ reads, writes, audit, logger });
  const indexBuilds = createIndexBuilds(config.pool, databases.reads, logger);
  const { maxViewers, maxViewersPerClient } = config;
  const feed = createFeed(databases.feed, {
    maxViewers,
    maxViewersPerClient,
    logger,
    ...parts.feed,
  });
  const admin: Admin = {
    config,
    audit,
    operations,
    databases,
    csrfToken: csrf.token,
    assets: createAssetStore(parts.assets),
    feed,
    metrics,
    indexBuilds,
    checkReady: createReadiness(databases.reads),
    routes,
  };
  const endpoints = routes.map((route) => bind(route, admin));
  if (basePath !== "/") endpoints.push(toBasePath(basePath));
  const http = createHttpServer({
    ...listen,
    handle: createDispatcher(endpoints, createPolicy(config, csrf, metrics), logger),
    headers: securityHeaders,
    logger,
    ...(parts.limits === undefined ? {} : { limits: parts.limits }),
  });
  // The loss of an idle connection is an event that would end the process if nobody listened.
  const onLost = (error: Error) => {
    logger.debug({ error: messageOf(error) }, "an idle database connection was lost");
  };
  const stop = async () => {
    indexBuilds.stop();
    await http.stop();
    await operations.stop();
    await feed.stop();
    config.pool.off("error", onLost);
  };
  return {
    start: async () => {
      await http.start();
      await operations.start();
      config.pool.on("error", onLost);
    },
    stop,
    [Symbol.asyncDispose]: stop,
    get address() {
      return http.address;
    },
    get url() {
      return urlOf(http, basePath);
    },
    generatedSecret: auth.generatedSecret,
  };
}

/** Starts a server and gives it back running; stop() ends it. */
export async function serve(config: AdminServerConfig): Promise<AdminServer> {
  const server = await createAdminServer(config);
  await server.start();
  return server;
}

function bind({ method, path, access, operation }: AdminRoute, admin: Admin): AdminEndpoint {
  return {
    method,
    path: admin.config.basePath + path.slice(1),
    access,
    label: path,
    run: (request: HttpRequest) => operation.run(admin, request),
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

/** A wildcard address cannot be opened; this machine's loopback can. */
function urlOf({ address: { host, port } }: HttpServer, basePath: string): string {
  const wildcards: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  return `http://${authority({ host: wildcards[host] ?? host, port })}${basePath}`;
}
