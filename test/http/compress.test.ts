import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { compressResponse } from "../../src/http/compress.ts";
import type { HttpRequest } from "../../src/http/request.ts";
import { jsonText } from "../../src/http/response.ts";

const text = JSON.stringify({
  jobs: Array.from({ length: 200 }, (_, id) => ({ id, task: "mail" })),
});
const accepting = (accepted?: string) =>
  ({ headers: accepted === undefined ? {} : { "accept-encoding": accepted } }) as HttpRequest;

test("A long response is compressed for clients that accept gzip, and decompresses to the same text.", async () => {
  for (const accepted of ["gzip", "br, gzip;q=0.5", "*"]) {
    const { headers, body } = await compressResponse(accepting(accepted), jsonText(text));
    assert.equal(headers["content-encoding"], "gzip", accepted);
    assert.equal(headers["vary"], "accept-encoding");
    assert.equal(gunzipSync(body as Uint8Array).toString(), text);
    assert.ok((body as Uint8Array).length * 5 < text.length);
  }
});

test("Clients that do not accept gzip get the response uncompressed, with a Vary header for caches.", async () => {
  for (const accepted of [undefined, "", "br", "gzip;q=0"]) {
    const { headers, body } = await compressResponse(accepting(accepted), jsonText(text));
    assert.deepEqual(
      [headers["content-encoding"], headers["vary"]],
      [undefined, "accept-encoding"],
    );
    assert.equal(body, text);
  }
});

test("A response stays unchanged if it is short, has no body, has a body of bytes, or is already encoded.", async () => {
  const bytes = { status: 200, headers: {}, body: Buffer.alloc(10_000) };
  const encoded = { ...jsonText(text), headers: { "content-encoding": "br" } };
  for (const answer of [jsonText("{}"), bytes, encoded, { ...bytes, body: null }]) {
    assert.equal(await compressResponse(accepting("gzip"), answer), answer);
  }
});
