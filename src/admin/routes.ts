// THE table: every path that the admin answers, who may use it, and what it does. All policy
// (login, CSRF, read-only) follows from `access` in policy.ts; there is none in the operations.

import { asset } from "./api/get-asset.ts";
import { getOneJob } from "./api/get-job.ts";
import { getMetrics } from "./api/get-metrics.ts";
import { getOpenapi } from "./api/get-openapi.ts";
import { getOverview } from "./api/get-overview.ts";
import { health, ready } from "./api/health.ts";
import { getCommon, getGroups } from "./api/insight/get-groups.ts";
import { getHorizon } from "./api/insight/get-horizon.ts";
import { getIncidents } from "./api/insight/get-incidents.ts";
import { getWhy } from "./api/insight/get-why.ts";
import { listJobsPage } from "./api/list-jobs.ts";
import { commandsAt } from "./api/run-command.ts";
import { getSession } from "./api/session.ts";
import { watchEvents } from "./api/watch-events.ts";
import type { AdminRoute } from "./context/admin.ts";

const addJob = commandsAt("/api/jobs", "AddJob");
const actOnJobs = commandsAt("/api/jobs/action", "JobAction");
const removeByKey = commandsAt("/api/jobs/remove-by-key", "RemoveByKey");
const maintain = commandsAt("/api/maintenance", "Maintenance");
const page = asset("index.html", "text/html");
const styles = asset("admin.css", "text/css");
const script = asset("admin.js", "text/javascript");
const host = asset("admin_ui.js", "text/javascript");
const wasm = asset("admin_ui_bg.wasm", "application/wasm");
const icon = asset("favicon.svg", "image/svg+xml");

// biome-ignore format: one row a line
export const routes: readonly AdminRoute[] = Object.freeze([
  { method: "GET", path: "/", access: "page", operation: page },
  { method: "GET", path: "/assets/admin.css", access: "asset", operation: styles },
  { method: "GET", path: "/assets/admin.js", access: "asset", operation: script },
  { method: "GET", path: "/assets/admin_ui.js", access: "asset", operation: host },
  { method: "GET", path: "/assets/admin_ui_bg.wasm", access: "asset", operation: wasm },
  { method: "GET", path: "/favicon.ico", access: "asset", operation: icon },
  { method: "GET", path: "/api/session", access: "read", operation: getSession },
  { method: "GET", path: "/api/overview", access: "read", operation: getOverview },
  { method: "GET", path: "/api/jobs", access: "read", operation: listJobsPage },
  { method: "POST", path: "/api/jobs", access: "write", operation: addJob },
  { method: "GET", path: "/api/jobs/{id}", access: "read", operation: getOneJob },
  { method: "GET", path: "/api/jobs/{id}/why", access: "read", operation: getWhy },
  { method: "POST", path: "/api/jobs/action", access: "write", operation: actOnJobs },
  { method: "POST", path: "/api/jobs/remove-by-key", access: "write", operation: removeByKey },
  { method: "POST", path: "/api/maintenance", access: "write", operation: maintain },
  { method: "GET", path: "/api/incidents", access: "read", operation: getIncidents },
  { method: "GET", path: "/api/horizon", access: "read", operation: getHorizon },
  { method: "GET", path: "/api/groups", access: "read", operation: getGroups },
  { method: "GET", path: "/api/groups/common", access: "read", operation: getCommon },
  { method: "GET", path: "/api/events", access: "read", operation: watchEvents },
  { method: "GET", path: "/api/openapi.json", access: "read", operation: getOpenapi },
  { method: "GET", path: "/healthz", access: "open", operation: health },
  { method: "GET", path: "/readyz", access: "open", operation: ready },
  { method: "GET", path: "/metrics", access: "read", operation: getMetrics },
]);
