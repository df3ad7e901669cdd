import assert from "node:assert/strict";
import { test } from "node:test";
import { createRouter } from "../../src/http/router.ts";

const router = createRouter([
  { method: "GET", path: "/" },
  { method: "GET", path: "/jobs" },
  { method: "POST", path: "/jobs" },
  { method: "GET", path: "/jobs/{id}" },
  { method: "POST", path: "/jobs/action" },
  { method: "GET", path: "/queues/{queue}/jobs/{id}" },
]);

const found = (method: string, path: string) => {
  const match = router(method, path);
  if (match.kind === "found") return { path: match.route.path, params: { ...match.params } };
  return match.kind === "other_method" ? match.allow.join() : null;
};

test("The router returns the route of a path and the decoded parameters.", () => {
  assert.deepEqual(found("GET", "/"), { path: "/", params: {} });
  assert.deepEqual(found("GET", "/jobs/7"), { path: "/jobs/{id}", params: { id: "7" } });
  assert.deepEqual(found("HEAD", "/jobs/7"), { path: "/jobs/{id}", params: { id: "7" } });
  assert.deepEqual(found("GET", "/queues/a%2Fb/jobs/%C3%A4"), {
    path: "/queues/{queue}/jobs/{id}",
    params: { queue: "a/b", id: "ä" },
  });
});

test("If a route without parameters matches a path, no route with parameters is used for it, whatever the method.", () => {
  assert.deepEqual(found("POST", "/jobs/action"), { path: "/jobs/action", params: {} });
  assert.equal(found("GET", "/jobs/action"), "POST");
});

test("If no route of a path has the requested method, the router returns the allowed methods.", () => {
  assert.equal(found("DELETE", "/jobs"), "GET,POST,HEAD");
  assert.equal(found("HEAD", "/jobs/action"), "POST");
  assert.equal(found("get", "/jobs"), "GET,POST,HEAD");
});

test("A path is compared as it was sent: nothing is decoded, merged or resolved before the comparison.", () => {
  for (const path of [
    "",
    "jobs",
    "/jobs/",
    "//jobs",
    "/Jobs",
    "/%6Aobs",
    "/jobs/%",
    "/jobs/%ff",
    "/jobs/1/2",
    "/./jobs",
    "/x/../jobs",
    "/%2e%2e/jobs",
    "/jobs;a=1",
  ]) {
    assert.equal(found("GET", path), null, path);
  }
  assert.deepEqual(found("GET", "/jobs/%2e%2e"), { path: "/jobs/{id}", params: { id: ".." } });
  assert.deepEqual(found("GET", "/jobs/{id}"), { path: "/jobs/{id}", params: { id: "{id}" } });
});

test("createRouter() throws if a route is duplicated.", () => {
  const route = { method: "GET", path: "/" };
  assert.throws(() => createRouter([route, { ...route }]), /GET \/ is duplicated/);
});
