import assert from "node:assert/strict";
import { test } from "node:test";
import { selectEncoding } from "../../src/admin/page/assets.ts";
import { startAdmin, testAssets } from "./admin-harness.ts";

const { client } = await startAdmin();
const get = (path: string, headers: Record<string, string> = {}) =>
  client.send("GET", path, { headers });

test("Every file of the page is served with its type.", async () => {
  const files = {
    "/": "index.html",
    "/assets/admin.css": "admin.css",
    "/assets/admin.js": "admin.js",
    "/assets/admin_ui.js": "admin_ui.js",
    "/assets/admin_ui_bg.wasm": "admin_ui_bg.wasm",
    "/favicon.ico": "favicon.svg",
  } as const;
  for (const [path, name] of Object.entries(files)) {
    const { status, headers, text } = await get(path);
    const asset = testAssets[name];
    assert.deepEqual([status, headers["content-type"]], [200, asset.content_type], path);
    assert.equal(text, Buffer.from(asset.identity, "base64").toString());
    assert.equal(headers["content-length"], String(text.length));
    assert.equal(headers["content-encoding"], undefined);
    assert.equal(headers.vary, "accept-encoding");
  }
});

test("A file is sent in br, in gzip or uncompressed, depending on Accept-Encoding, and each encoding has an ETag of its own.", async () => {
  const etags = new Set<string | undefined>();
  for (const [accepted, encoding, text] of [
    ["gzip, deflate, br, zstd", "br", "script in br"],
    ["gzip", "gzip", "script in gzip"],
    ["identity", undefined, "script"],
  ] as const) {
    const answer = await get("/assets/admin.js", { "accept-encoding": accepted });
    assert.deepEqual([answer.headers["content-encoding"], answer.text], [encoding, text]);
    assert.match(answer.headers.etag ?? "", /^"[^"]+"$/);
    etags.add(answer.headers.etag);
  }
  assert.equal(etags.size, 3);
});

test("A request for a file that the client already has is answered with 304 and no body.", async () => {
  const first = await get("/assets/admin.js", { "accept-encoding": "br" });
  const etag = first.headers.etag ?? "";
  for (const etagSent of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const answer = await get("/assets/admin.js", {
      "accept-encoding": "br",
      "if-none-match": etagSent,
    });
    assert.deepEqual([answer.status, answer.text], [304, ""], etagSent);
    assert.deepEqual([answer.headers.etag, answer.headers.vary], [etag, "accept-encoding"]);
    assert.equal(answer.headers["cache-control"], "public, max-age=3600");
  }
  for (const [encoding, etagSent] of [
    ["gzip", etag],
    ["br", '"other"'],
    ["br", etag.slice(1, -1)],
  ]) {
    const headers = { "accept-encoding": encoding ?? "", "if-none-match": etagSent ?? "" };
    assert.equal((await get("/assets/admin.js", headers)).status, 200);
  }
});

test("A font may be cached for a year; a request for an unknown font is answered with 404.", async () => {
  const { status, headers } = await get("/assets/fonts/sans-0123.woff2");
  assert.deepEqual([status, headers["content-type"]], [200, "font/woff2"]);
  assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  for (const name of ["sans-9999.woff2", "admin.js", "..%2Fadmin.js", "__proto__"]) {
    const answer = await get(`/assets/fonts/${name}`);
    assert.deepEqual([answer.status, answer.headers["cache-control"]], [404, "no-store"], name);
  }
});

test("The page itself is never cached, whatever its query is.", async () => {
  const { status, headers } = await get("/?page=jobs&state=failed&__proto__=1");
  assert.deepEqual([status, headers["cache-control"]], [200, "no-store"]);
});

test("The encoding with the client's highest q-value is selected; among equal q-values, the first of br, gzip and identity; if none is acceptable, identity.", () => {
  const all = ["br", "gzip", "identity"] as const;
  const cases: [string | undefined, string][] = [
    [undefined, "identity"],
    ["", "identity"],
    ["*", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["br;q=0, *;q=0.1", "gzip"],
    ["br;q=0, gzip;q=0", "identity"],
    ["identity;q=1, br;q=0.5", "identity"],
    ["GZIP", "gzip"],
    ["br;q=nonsense, gzip", "gzip"],
    ["deflate, zstd", "identity"],
    ["identity;q=0", "identity"],
    ["x".repeat(10_000), "identity"],
  ];
  for (const [accepted, encoding] of cases) {
    assert.equal(selectEncoding(accepted, all), encoding, accepted);
  }
  assert.equal(selectEncoding("br, gzip", ["identity"]), "identity");
});

test("With a base path all routes are below it, and a request for the base path without its final slash is redirected to the base path.", async () => {
  const based = await startAdmin({ basePath: "/queue" });
  const at = async (path: string) => (await based.client.get(path)).status;
  assert.deepEqual(
    [await at("/queue/"), await at("/queue/api/session"), await at("/queue/assets/admin.js")],
    [200, 200, 200],
  );
  assert.deepEqual(
    [await at("/"), await at("/api/session"), await at("/queuex/")],
    [404, 404, 404],
  );
  const redirect = await based.client.get("/queue?next=//evil.example");
  assert.deepEqual([redirect.status, redirect.headers.location], [308, "/queue/"]);
  assert.match(based.server.url, /^http:\/\/127\.0\.0\.1:\d+\/queue\/$/);
});
