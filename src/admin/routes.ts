// The table of routes: method, path, access and operation. The `access` of a route determines whether its requests need
// a login and a CSRF token, and whether a read-only admin refuses them (context/policy.ts).

import { createTicket, downloadExport, getExport } from "./api/export/export-jobs.ts";
import { asset, getFont } from "./api/get-asset.ts";
import { getOpenapi } from "./api/get-openapi.ts";
import { health, ready } from "./api/health.ts";
import { getCommon, getGroups } from "./api/insight/get-groups.ts";
import { getHorizon } from "./api/insight/get-horizon.ts";
import { getIncidents } from "./api/insight/get-incidents.ts";
import { getWhy } from "./api/insight/get-why.ts";
import { getLimit, getLimits } from "./api/limits/get-limits.ts";
import { getCron, getCronEntry, getSchedules } from "./api/lists/get-cron.ts";
import { getExplain } from "./api/lists/get-explain.ts";
import { getOneJob, getPayload } from "./api/lists/get-job.ts";
import { getPauses } from "./api/lists/get-pauses.ts";
import { getNamedQueue, getOneQueue, getQueues } from "./api/lists/get-queues.ts";
import { getSuggest } from "./api/lists/get-suggest.ts";
import { getTasks } from "./api/lists/get-tasks.ts";
import { getOneWorker, getWorkers } from "./api/lists/get-workers.ts";
import { listJobsPage } from "./api/lists/list-jobs.ts";
import { getCounts } from "./api/live/get-counts.ts";
import { getMetrics } from "./api/live/get-metrics.ts";
import { getOverview } from "./api/live/get-overview.ts";
import { watchEvents } from "./api/live/watch-events.ts";
import { lifecycleRoute } from "./api/operations/lifecycle-routes.ts";
import { listActivity } from "./api/operations/list-activity.ts";
import {
  getOperation,
  getOperationResults,
  listOperationJobs,
  listOperations,
} from "./api/operations/read-operations.ts";
import { startOperation } from "./api/operations/start-operation.ts";
import { commandsAt } from "./api/run-command.ts";
import { getSession } from "./api/session.ts";
import { getDatabase } from "./api/system/get-database.ts";
import type { AdminRoute } from "./context/admin.ts";

const addJob = commandsAt("/api/jobs", "AddJob");
const actOnJobs = commandsAt("/api/jobs/action", "JobAction");
const removeByKey = commandsAt("/api/jobs/remove-by-key", "RemoveByKey");
const maintain = commandsAt("/api/maintenance", "Maintenance");
const [pause, resume, stop, undo] = [
  lifecycleRoute("pause"),
  lifecycleRoute("resume"),
  lifecycleRoute("stop"),
  lifecycleRoute("undo"),
];
const changeIndex = commandsAt("/api/indexes", "Index");
const changePause = commandsAt("/api/pauses", "Pauses");
const changeSchedule = commandsAt("/api/schedules", "Schedules");
const changeLimit = commandsAt("/api/limits", "Limits");
const addExtension = commandsAt("/api/extensions", "Extension");
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
  { method: "GET", path: "/assets/fonts/{font}", access: "hashed", operation: getFont },
  { method: "GET", path: "/favicon.ico", access: "asset", operation: icon },
  { method: "GET", path: "/api/session", access: "read", operation: getSession },
  { method: "GET", path: "/api/overview", access: "read", operation: getOverview },
  { method: "GET", path: "/api/counts", access: "read", operation: getCounts },
  { method: "GET", path: "/api/jobs", access: "read", operation: listJobsPage },
  { method: "POST", path: "/api/jobs", access: "write", operation: addJob },
  { method: "GET", path: "/api/jobs/{id}", access: "read", operation: getOneJob },
  { method: "GET", path: "/api/jobs/{id}/payload", access: "read", operation: getPayload, isLong: true },
  { method: "GET", path: "/api/jobs/{id}/why", access: "read", operation: getWhy },
  { method: "POST", path: "/api/jobs/action", access: "write", operation: actOnJobs },
  { method: "POST", path: "/api/jobs/remove-by-key", access: "write", operation: removeByKey },
  { method: "POST", path: "/api/maintenance", access: "write", operation: maintain },
  { method: "GET", path: "/api/incidents", access: "read", operation: getIncidents },
  { method: "GET", path: "/api/horizon", access: "read", operation: getHorizon },
  { method: "GET", path: "/api/groups", access: "read", operation: getGroups },
  { method: "GET", path: "/api/groups/common", access: "read", operation: getCommon },
  { method: "GET", path: "/api/queues", access: "read", operation: getQueues },
  { method: "GET", path: "/api/queues/{queue}", access: "read", operation: getOneQueue },
  { method: "GET", path: "/api/queue", access: "read", operation: getNamedQueue },
  { method: "GET", path: "/api/pauses", access: "read", operation: getPauses },
  { method: "POST", path: "/api/pauses", access: "write", operation: changePause },
  { method: "GET", path: "/api/tasks", access: "read", operation: getTasks },
  { method: "GET", path: "/api/operations", access: "read", operation: listOperations },
  { method: "POST", path: "/api/operations", access: "write", operation: startOperation },
  { method: "GET", path: "/api/operations/{id}", access: "read", operation: getOperation },
  { method: "GET", path: "/api/operations/{id}/results", access: "read", operation: getOperationResults },
  { method: "GET", path: "/api/operations/{id}/jobs", access: "read", operation: listOperationJobs },
  { method: "POST", path: "/api/operations/{id}/pause", access: "write", operation: pause },
  { method: "POST", path: "/api/operations/{id}/resume", access: "write", operation: resume },
  { method: "POST", path: "/api/operations/{id}/stop", access: "write", operation: stop },
  { method: "POST", path: "/api/operations/{id}/undo", access: "write", operation: undo },
  { method: "GET", path: "/api/activity", access: "read", operation: listActivity },
  { method: "GET", path: "/api/database", access: "read", operation: getDatabase },
  { method: "POST", path: "/api/indexes", access: "write", operation: changeIndex },
  { method: "POST", path: "/api/extensions", access: "write", operation: addExtension },
  { method: "GET", path: "/api/workers", access: "read", operation: getWorkers },
  { method: "GET", path: "/api/workers/{worker}", access: "read", operation: getOneWorker },
  { method: "GET", path: "/api/cron", access: "read", operation: getCron },
  { method: "GET", path: "/api/cron-entry", access: "read", operation: getCronEntry },
  { method: "GET", path: "/api/schedules", access: "read", operation: getSchedules },
  { method: "POST", path: "/api/schedules", access: "write", operation: changeSchedule },
  { method: "GET", path: "/api/limits", access: "read", operation: getLimits },
  { method: "GET", path: "/api/limits/{name}", access: "read", operation: getLimit },
  { method: "POST", path: "/api/limits", access: "write", operation: changeLimit },
  { method: "GET", path: "/api/explain", access: "read", operation: getExplain },
  { method: "GET", path: "/api/suggest", access: "read", operation: getSuggest },
  { method: "GET", path: "/api/events", access: "read", operation: watchEvents },
  { method: "GET", path: "/api/export", access: "read", operation: getExport, isLong: true },
  { method: "POST", path: "/api/export/ticket", access: "write", operation: createTicket },
  { method: "GET", path: "/api/export/download", access: "ticket", operation: downloadExport, isLong: true },
  { method: "GET", path: "/api/openapi.json", access: "read", operation: getOpenapi },
  { method: "GET", path: "/healthz", access: "open", operation: health },
  { method: "GET", path: "/readyz", access: "open", operation: ready },
  { method: "GET", path: "/metrics", access: "metrics", operation: getMetrics },
]);
