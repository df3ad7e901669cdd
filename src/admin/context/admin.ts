// What an operation of the admin may use. Built once by server.ts; an operation takes from it what
// it needs and passes that on, never the whole.

import type { AuditTrail } from "../../commands/audit/audit-trail.ts";
import type { IndexBuilds } from "../../database/schema/indexes/index-builds.ts";
import type { Work } from "../../http/bounds/work.ts";
import type { HttpRequest } from "../../http/request.ts";
import type { HttpResponse } from "../../http/response.ts";
import type { Insight } from "../../insight/insight.ts";
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
  /** What there is to know of all jobs, for page, stream and metrics. */
  readonly feed: Feed;
  readonly metrics: Metrics;
  readonly insight: Insight;
  readonly operations: OperationRunner;
  /** Every write leaves an entry in it. */
  readonly audit: AuditTrail;
  /** Builds optional indexes in the background. */
  readonly indexBuilds: IndexBuilds;
  readonly readiness: Readiness;
  readonly exportTickets: Tickets;
  /** Places for exports and payloads that are being sent. */
  readonly downloads: Work;
  /** Every row of the route table, for the OpenAPI document. */
  readonly routes: readonly AdminRoute[];
}

/** What one route does, and what the OpenAPI document says about it. */
export interface Operation {
  readonly summary: string;
  readonly query?: QueryFields;
  /** The JSON Schema of the body. */
  readonly body?: JsonSchema;
  /** The JSON Schema of the answer, or its media type when it is not JSON. */
  readonly answer: JsonSchema | string;
  /** Memory that is reserved before it begins, bytes. Default: as much as a small answer needs. */
  readonly reserves?: (request: HttpRequest) => number;
  readonly run: (admin: Admin, request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
}

/**
 * Who may: `open` anybody; `page` and `asset` who is logged in by the browser (mode basic), else
 * anybody; `read` who has credentials; `metrics` the same, or the token for metrics; `write` who has
 * credentials and the CSRF token, unless read-only; `ticket` who has an address that was given to
 * somebody with credentials: its operation decides.
 */
export type Access = "open" | "page" | "asset" | "hashed" | "read" | "metrics" | "ticket" | "write";

export interface AdminRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly access: Access;
  readonly operation: Operation;
  /** A download: its first row may be very large, so it has longer to begin. Default false. */
  readonly isLong?: boolean;
}
