// Tests what the source of server-sent events sends to viewers (clients with an open stream) that are slow, reconnect
// or accept gzip, and how many viewers it allows.
import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";
import { createGunzip } from "node:zlib";
import { createEventSource } from "../../src/http/events/event-source.ts";
import { Refusal } from "../../src/http/refusal.ts";
import type { HttpRequest } from "../../src/http/request.ts";

/** A connection whose client reads only when a test calls read(); until then one write is pending. */
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
    /** Completes the pending write, and waits until the source has reacted to a `drain` of the connection, if any. */
    read: async () => {
      const done = release;
      release = null;
      done?.();
      await new Promise(setImmediate);
    },
  };
}

interface ViewOptions {
  readonly events?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly client?: string;
}

function source(options: { stalledMs?: number; maxViewers?: number; perClient?: number } = {}) {
  const { stalledMs = 60_000, maxViewers = 2, perClient = 10 } = options;
  const counts: number[] = [];
  const events = createEventSource({
    maxViewers,
    maxViewersPerClient: perClient,
    stalledMs,
    onViewers: (viewers) => counts.push(viewers),
  });
  const view = (
    to: Writable,
    { events: names = ["a"], headers = {}, client }: ViewOptions = {},
  ) => {
    const closing = new AbortController();
    const request = { closing: closing.signal, headers, client: client ?? "::1" };
    const { body, headers: answered } = events.view(request as unknown as HttpRequest, names);
    assert.ok(typeof body === "function");
    body(to);
    return { leave: () => closing.abort(), answered };
  };
  return { events, view, counts };
}

/** Returns the events without their ids. */
const withoutIds = (taken: readonly string[]) =>
  taken.map((text) => text.replace(/^id: .*\n/gm, ""));

test("A viewer that does not keep up skips to the newest event of each kind.", async () => {
  const { events, view } = source();
  const slow = connection();
  const quick = connection();
  events.publish("b", '"the first of many"');
  view(slow.writable, { events: ["a", "b"] });
  view(quick.writable);
  for (let n = 1; n <= 1_000; n++) {
    events.publish("a", `"number ${n}"`);
    if (n % 100 === 0) events.publish("b", `"other ${n}"`);
    await quick.read();
  }
  events.ping();
  assert.deepEqual(withoutIds(slow.taken), ['event: b\ndata: "the first of many"\n\n']);
  assert.ok(slow.writable.writableLength < 100, "no events accumulate for the slow viewer");
  for (let n = 0; n < 4; n++) await slow.read();
  assert.deepEqual(withoutIds(slow.taken).slice(1).sort(), [
    'event: a\ndata: "number 1000"\n\n',
    'event: b\ndata: "other 1000"\n\n',
  ]);
  assert.equal(quick.taken.length, 1_001, "the quick viewer gets a ping and all later events");
});

test("A viewer that has stopped reading is disconnected.", async () => {
  const { events, view, counts } = source({ stalledMs: 0 });
  const stuck = connection();
  events.publish("a", '"more than ten bytes"');
  view(stuck.writable);
  const closed = new Promise((resolve) => stuck.writable.once("close", resolve));
  while (!stuck.writable.destroyed) {
    events.ping();
    await new Promise(setImmediate);
  }
  await closed;
  assert.deepEqual([events.viewers, counts], [0, [1, 0]]);
});

test("Viewers are counted and limited, in total and per client.", async () => {
  const isRefused = (error: unknown) =>
    error instanceof Refusal && error.status === 503 && error.code === "busy";
  const { events, view, counts } = source();
  const first = view(connection().writable);
  view(connection().writable);
  assert.throws(() => view(connection().writable), isRefused);
  first.leave();
  assert.deepEqual([events.viewers, counts], [1, [1, 2, 1]]);
  view(connection().writable);
  assert.equal(events.viewers, 2);

  const shared = source({ maxViewers: 10, perClient: 1 });
  const one = shared.view(connection().writable, { client: "10.0.0.1" });
  assert.throws(() => shared.view(connection().writable, { client: "10.0.0.1" }), isRefused);
  shared.view(connection().writable, { client: "10.0.0.2" });
  one.leave();
  shared.view(connection().writable, { client: "10.0.0.1" });
});

test("If a request is closed before its stream opens, the stream ends at once, and the request gets no further stream.", () => {
  const { events } = source();
  const stop = new AbortController();
  const request = { closing: stop.signal, headers: {}, client: "::1" } as unknown as HttpRequest;
  const { body } = events.view(request, ["a"]);
  stop.abort();
  assert.throws(() => events.view(request, ["a"]), { status: 503, code: "aborted" });
  const late = connection();
  assert.ok(typeof body === "function");
  body(late.writable);
  assert.equal(events.viewers, 0);
  assert.equal(late.writable.writableEnded, true);
});

test("A viewer that reconnects gets only events after its last id. If this process has not sent the id, the viewer gets the last event of each kind.", () => {
  const { events, view } = source({ maxViewers: 10 });
  const shownWith = (id: string) => {
    const viewer = new PassThrough();
    view(viewer, { events: ["a", "b"], headers: { "last-event-id": id } });
    return String(viewer.read());
  };
  events.publish("a", "1");
  events.publish("b", "2");
  const [first = "", second = ""] = [...shownWith("").matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  assert.doesNotMatch(shownWith(first), /event: a/);
  assert.match(shownWith(first), /event: b\ndata: 2/);
  assert.equal(shownWith(second), ": ping\n\n");
  events.publish("a", "3");
  assert.match(shownWith(second), /^id: .*\nevent: a\ndata: 3\n\n$/);
  for (const id of ["AAAAAAAA-2", "nonsense", `${second}9999999999999999`]) {
    assert.match(shownWith(id), /event: b[\s\S]*event: a/, id);
  }
});

test("A slow viewer gets events in the order of their ids, so that it misses no event when it reconnects.", async () => {
  const { events, view } = source({ maxViewers: 10 });
  const slow = connection();
  events.publish("b", '"first"');
  view(slow.writable, { events: ["a", "b"] });
  events.publish("a", '"old"');
  events.publish("b", '"last"');
  events.publish("a", '"newest"');
  await slow.read();
  const [, received = ""] = slow.taken;
  assert.match(received, /^id: .*\nevent: b\ndata: "last"\n\n$/);
  const [, id = ""] = /^id: (.*)$/m.exec(received) ?? [];
  const again = new PassThrough();
  view(again, { events: ["a", "b"], headers: { "last-event-id": id } });
  assert.deepEqual(withoutIds([String(again.read())]), ['event: a\ndata: "newest"\n\n']);
});

test("Events with different topics do not replace each other, and only the last 100 topics are kept.", () => {
  const { events, view } = source({ maxViewers: 10 });
  events.publish("operation", '"one begun"', "operation 1");
  events.publish("operation", '"two begun"', "operation 2");
  events.publish("operation", '"one done"', "operation 1");
  const viewer = new PassThrough();
  view(viewer, { events: ["operation"] });
  const [first, second] = [...String(viewer.read()).matchAll(/^data: (.*)$/gm)].map(([, d]) => d);
  assert.deepEqual([first, second], ['"two begun"', '"one done"']);
  for (let n = 0; n < 1_000; n++) events.publish("operation", "0", `operation ${n}`);
  const late = new PassThrough();
  view(late, { events: ["operation"] });
  assert.equal(String(late.read()).match(/^data/gm)?.length, 100);
  events.clear("operation");
  const last = new PassThrough();
  view(last, { events: ["operation"] });
  assert.equal(String(last.read()), ": ping\n\n");
});

test("For clients that accept gzip, streams are compressed; each event can be decoded at once.", async () => {
  const { events, view } = source({ maxViewers: 10 });
  events.publish("a", '"äöü, first"');
  const open = ["gzip, br", "br;q=1, gzip;q=0.5", "*"].map((accepted, n) => {
    if (n > 0) events.publish("a", `"before ${n}"`);
    const to = new PassThrough();
    const { leave, answered } = view(to, { headers: { "accept-encoding": accepted } });
    assert.equal(answered["content-encoding"], "gzip");
    const plain = to.pipe(createGunzip());
    let text = "";
    plain.on("data", (chunk) => {
      text += chunk;
    });
    const ended = new Promise((resolve, reject) =>
      plain.once("end", resolve).once("error", reject),
    );
    const seen = async (part: string) => {
      while (!text.includes(part)) await new Promise(setImmediate);
    };
    return { leave, seen, ended };
  });
  const [first] = open;
  await first?.seen("äöü, first");
  const long = JSON.stringify("long ".repeat(100_000));
  events.publish("a", long);
  events.publish("a", '"short"');
  for (const { seen } of open) {
    await seen(long);
    await seen('"short"');
  }
  events.ping();
  for (const { leave, ended } of open) {
    leave();
    await ended; // fails if the checksum or size is wrong
  }
  for (const accepted of ["", "br", "gzip;q=0", "identity"]) {
    const { answered, leave } = view(new PassThrough(), {
      headers: { "accept-encoding": accepted },
    });
    assert.equal(answered["content-encoding"], undefined, accepted);
    leave();
  }
});
