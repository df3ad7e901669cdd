// Requests to the admin's GET routes, with queries of each kind. The routes of the page, of its files, and of downloads
// with a ticket are left out. packed-rows.ts replaces `ID` in a path by the id of a job.

const queries = [
  "",
  "is:failed",
  "payload.n>700",
  "-payload.a:b is:failed",
  "payload:abc",
  "error:abc",
  "group:0123456789abcdef",
  "-baab is:failed",
];
const some = ["", "payload.a:b is:failed", "error=abc"];

const each = (path: string, more = "", asked = queries) =>
  asked.map((q) => `${path}?q=${encodeURIComponent(q)}${more}`);

/**
 * The requests to each route. null: the route is not requested, because its answer is a stream, or because the answer
 * needs rows that only some tests add.
 */
export const asked: Readonly<Record<string, readonly string[] | null>> = {
  "/api/session": ["/api/session"],
  "/api/overview": ["/api/overview"],
  "/api/counts": each("/api/counts"),
  "/api/jobs": [
    ...each("/api/jobs", "&sort=id&limit=50"),
    ...["-id", "due", "priority", "-failed_at", "-attempts"].flatMap((sort) =>
      each("/api/jobs", `&sort=${sort}&limit=50`, some),
    ),
    ...each("/api/jobs", "&limit=500", some),
    ...each("/api/jobs", "&fields=row&count=fast", ["error:abc", "-baab is:failed"]),
    "/api/jobs?state=failed&search=baab",
    "/api/jobs?state=failed&search=baab&fields=row&count=fast",
    "/api/jobs?state=failed&q=baab&fields=row&count=fast",
  ],
  "/api/jobs/{id}": ["/api/jobs/ID"],
  "/api/jobs/{id}/payload": ["/api/jobs/ID/payload"],
  "/api/jobs/{id}/why": ["/api/jobs/ID/why"],
  "/api/incidents": ["/api/incidents"],
  "/api/horizon": ["/api/horizon"],
  "/api/groups": [
    ...each("/api/groups", "&by=error"),
    ...["task", "queue", "worker", "priority"].flatMap((by) =>
      each("/api/groups", `&by=${by}`, some),
    ),
  ],
  "/api/groups/common": each("/api/groups/common", "", some),
  "/api/queues": ["/api/queues"],
  "/api/queues/{queue}": ["/api/queues/q"],
  "/api/queue": ["/api/queue?name=q"],
  "/api/tasks": ["/api/tasks"],
  "/api/operations": ["/api/operations", "/api/operations?limit=200"],
  "/api/operations/{id}": null,
  "/api/operations/{id}/jobs": null,
  "/api/operations/{id}/results": null,
  "/api/pauses": ["/api/pauses"],
  "/api/activity": ["/api/activity", "/api/activity?limit=200"],
  "/api/database": ["/api/database"],
  "/api/workers": ["/api/workers", "/api/workers?search=w-1", "/api/workers?limit=500"],
  "/api/workers/{worker}": ["/api/workers/w-0"],
  "/api/cron": ["/api/cron"],
  "/api/cron-entry": null,
  "/api/schedules": ["/api/schedules"],
  "/api/limits": ["/api/limits"],
  "/api/limits/{name}": null,
  "/api/explain": each("/api/explain", "", some),
  "/api/suggest": ["payload.a:", "payload.", "error:", "worker:", "aaa"].map(
    (q) => `/api/suggest?q=${encodeURIComponent(q)}&at=${q.length}`,
  ),
  "/api/events": null,
  "/api/export": null,
  "/api/openapi.json": ["/api/openapi.json"],
  "/healthz": ["/healthz"],
  "/readyz": ["/readyz"],
  "/metrics": ["/metrics"],
};

const COUNTING = ["/api/counts", "/api/groups", "/api/groups/common"];

const of = (isWanted: (route: string) => boolean) =>
  Object.entries(asked).flatMap(([route, paths]) => (isWanted(route) ? (paths ?? []) : []));

/** All requests, in parts that take about a minute each. */
export const parts = {
  lists: of((route) => route === "/api/jobs"),
  counts: of((route) => COUNTING.includes(route)),
  others: of((route) => route !== "/api/jobs" && !COUNTING.includes(route)),
} as const;
