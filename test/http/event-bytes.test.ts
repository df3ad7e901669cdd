// Compressed event streams. A client decodes exactly the events that were sent to it. An event that resembles an
// earlier event of the same stream takes few bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { EventBytes, encoderFor } from "../../src/http/events/event-bytes.ts";
import type { HttpRequest } from "../../src/http/request.ts";

const counts = (n: number) =>
  `id: AAAAAAAA-${n}\nevent: counts\ndata: ${JSON.stringify({
    ...{ as_of: new Date(Date.UTC(2026, 0, 1) + 1_000 * n).toISOString(), total: 4_000 + n },
    ready: { value: n, precision: "exact", basis: "scan", low: n, high: n },
    failed: { value: 54, precision: "exact", basis: "scan", low: 54, high: 54 },
  })}\n\n`;

function reader() {
  const { encode, end } = encoderFor({
    headers: { "accept-encoding": "gzip" },
  } as unknown as HttpRequest);
  const came: Buffer[] = [];
  const published: string[] = [];
  return {
    send(piece: EventBytes) {
      const bytes = encode(piece);
      came.push(bytes);
      published.push(String(piece.plain));
      return bytes.length;
    },
    /** Ends the stream. Fails if the decoded text differs from the text of the pieces that were sent. */
    close() {
      const text = gunzipSync(Buffer.concat([...came, end()])).toString();
      assert.equal(text, published.join(""));
    },
  };
}

test("An event that differs from the previous one in a few numbers takes a few bytes.", () => {
  const one = reader();
  const sizes = Array.from({ length: 50 }, (_, n) => one.send(new EventBytes(counts(n))));
  const [first = 0, ...others] = sizes;
  assert.ok(Math.max(...others) * 3 < first, sizes.join(" "));
  one.close();
});

test("Clients that joined at different times get the same number of bytes for an event once their last events are the same.", () => {
  const early = reader();
  const late = reader();
  for (let n = 0; n < 100; n++) {
    const piece = new EventBytes(counts(n));
    const size = early.send(piece);
    if (n < 10) continue;
    const lateSize = late.send(piece);
    if (n > 30) assert.equal(lateSize, size);
  }
  early.close();
  late.close();
});

test("Clients can decode their streams, even if they miss many events and some events are large.", () => {
  const readers = Array.from({ length: 60 }, reader);
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let n = 0; n < 200; n++) {
    const filler = n % 17 === 0 ? "x".repeat(random(60_000)) : "";
    const piece = new EventBytes(counts(n).replace("exact", `exact${filler}`));
    for (const one of readers) if (random(3) > 0) one.send(piece);
  }
  for (const one of readers) one.close();
});
