// `Admin` has everything that the run() of a route can use. For each request, run() receives a copy whose `databases`
// are bound to the request.

import type { AuditTrail } from "../../commands/audit/audit-trail.ts";
import type { IndexBuilds } from "../../database/schema/indexes/index-builds.ts";
import type { Work } from "../../http/bounds/work.ts";
import type { HttpRequest } from "../../http/request.ts";
import type { HttpResponse } from "../../http/response.ts";
import type { Insight } from "../../insight/insight.ts";
import type { OwnLogin } from "../access/own-login.ts";
import type { AdminServerConfig } from "../config/config.ts";
import type { AdminDatabases } from "../config/databases.ts";
import type { Feed } from "../feed/feed.ts";
import type { Metrics } from "../feed/metrics.ts";
import type { Readiness } from "../live/readiness.ts";
import type { OperationRunner } from "../operations/operation-runner.ts";
import type { AssetStore } from "../page/assets.ts";
import type { JsonSchema } from "../wire/json-schema.ts";
import type { QueryFields } from "../wire/wire.ts";
import type { Tickets } from "./export-tickets.ts";

export interface Admin {
  readonly config: AdminServerConfig;
  readonly databases: AdminDatabases;
  readonly csrfToken: string;
  readonly assets: AssetStore;
  /** Reads the state of the whole queue. */
  readonly feed: Feed;
  readonly metrics: Metrics;
  readonly insight: Insight;
  readonly operations: OperationRunner;
  /** The record of all changes. */
  readonly audit: AuditTrail;
  readonly indexBuilds: IndexBuilds;
  readonly readiness: Readiness;
  /** Opens an event stream. In mode `custom`, the stream ends when the user is no longer logged in. */
  readonly whileLoggedIn: OwnLogin["whileLoggedIn"];
  readonly exportTickets: Tickets;
  /** Limits how many exports and payloads are sent at the same time. */
  readonly downloads: Work;
  /** All routes, for the OpenAPI document. */
  readonly routes: readonly AdminRoute[];
}

/** What one route does, as an operation of the OpenAPI document. */
export interface Operation {
  readonly summary: string;
  readonly query?: QueryFields;
  readonly body?: JsonSchema;
  /** The JSON Schema of a JSON answer, or the possible media types of any other answer, such as `a/b, c/d`. */
  readonly answer: JsonSchema | string;
  /**
   * The memory to reserve before run() is called, in bytes, if the access is `read`, `metrics` or `write`. Default: the
   * memory of a small answer.
   */
  readonly reserves?: (request: HttpRequest) => number;
  readonly run: (admin: Admin, request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
}

/**
 * What the requests of a route need:
 *
 * - `open`: nothing.
 * - `page`, `asset`, `hashed`: credentials, but only in the modes basic and custom, in which the browser sends them by
 *   itself. These three differ only in how answers are cached.
 * - `read`: credentials.
 * - `metrics`: credentials or the token for metrics.
 * - `write`: credentials and the CSRF token. Neither the user, the admin nor the database may be read-only.
 * - `ticket`: a ticket, which run() checks.
 *
 * In mode none, no route needs credentials.
 */
export type Access = "open" | "page" | "asset" | "hashed" | "read" | "metrics" | "ticket" | "write";

export interface AdminRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly access: Access;
  readonly operation: Operation;
  /**
   * Whether the answer is a download. A download has at least 3 s until it begins, because its first row may be very
   * large. Default false.
   */
  readonly isLong?: boolean;
}
