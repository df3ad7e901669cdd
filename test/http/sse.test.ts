import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { Refusal } from "../../src/http/refusal.ts";
import type { HttpRequest } from "../../src/http/request.ts";
import { createEventSource, eventText } from "../../src/http/sse.ts";

/** A connection whose reader takes a write only when told to. */
function connection() {
  const taken: string[] = [];
  let release: (() => void) | null = null;
  const writable = new Writable({
    highWaterMark: 10,
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      release = done;
    },
  });
  return {
    writable,
    taken,
    /** Takes what lies ready, and lets the events of that happen. */
    read: async () => {
      release?.();
      await new Promise(setImmediate);
    },
  };
}

function source(patienceMs = 60_000, maxViewers = 2) {
  const counts: number[] = [];
  const events = createEventSource({
    maxViewers,
    patienceMs,
    onViewers: (viewers) => counts.push(viewers),
  });
  const view = (to: Writable, first: string | null = null) => {
    const closing = new AbortController();
    const request = { closing: closing.signal, client: "10.0.0.1" } as HttpRequest;
    const { body } = events.view(request, () => first);
    assert.ok(typeof body === "function");
    body(to);
    return closing;
  };
  return { events, view, counts };
}

test("A viewer that does not keep up skips to the newest event.", async () => {
  const { events, view } = source();
  const slow = connection();
  const quick = connection();
  view(slow.writable, "first of many");
  view(quick.writable);
  for (let n = 1; n <= 1_000; n++) {
    events.send(eventText("overview", `"number ${n}"`));
    await quick.read();
  }
  events.ping();
  assert.deepEqual(slow.taken, ["first of many"]);
  assert.ok(slow.writable.writableLength < 100, "nothing piles up");
  await slow.read();
  await slow.read();
  assert.deepEqual(slow.taken, ["first of many", 'event: overview\ndata: "number 1000"\n\n']);
  assert.equal(quick.taken.length, 1_001);
});

test("A viewer that has stopped reading is dropped.", async () => {
  const { events, view, counts } = source(0);
  const stuck = connection();
  view(stuck.writable, "more than ten bytes");
  const closed = new Promise((resolve) => stuck.writable.once("close", resolve));
  while (!stuck.writable.destroyed) {
    events.ping();
    await new Promise(setImmediate);
  }
  await closed;
  assert.deepEqual([events.viewers, counts], [0, [1, 0]]);
});

test("Viewers are counted, and there are only so many.", async () => {
  const { events, view, counts } = source();
  const first = view(connection().writable);
  view(connection().writable);
  assert.throws(
    () => view(connection().writable),
    (error) => error instanceof Refusal && error.status === 503 && error.code === "busy",
  );
  first.abort();
  assert.deepEqual([events.viewers, counts], [1, [1, 2, 1]]);
  view(connection().writable);
  assert.equal(events.viewers, 2);
});

test("A stream that opens after its request has gone ends at once.", () => {
  const { events } = source();
  const request = { closing: AbortSignal.abort(), client: "10.0.0.1" } as HttpRequest;
  const { body } = events.view(request, () => null);
  const late = connection();
  assert.ok(typeof body === "function");
  body(late.writable);
  assert.equal(events.viewers, 0);
  assert.equal(late.writable.writableEnded, true);
});
