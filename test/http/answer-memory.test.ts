// Tests the limits on the memory of responses that are being built, or that clients (the readers) have not read yet.
// The tests set the clock that decides whether a reader is slow; timers run in real time.
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { inTime } from "../../src/admin/context/request-time.ts";
import { createAnswerMemory } from "../../src/http/bounds/answer-memory.ts";
import { answerBytesHere } from "../../src/http/bounds/limits.ts";
import type { HttpRequest } from "../../src/http/request.ts";

const { signal: here } = new AbortController();

function memory(limits = {}) {
  const time = { ms: 0 };
  const settings = { unreadBytes: 20, unreadBytesInAll: 40, readOnBytes: 5, memoryWaitMs: 3_000 };
  return { time, memory: createAnswerMemory({ ...settings, ...limits }, () => time.ms) };
}

/** Resolves with the promise's value, or with "waits" if the promise is still pending at the next setImmediate(). */
async function settled<T>(promise: Promise<T>): Promise<T | "waits"> {
  return Promise.race([promise, new Promise<"waits">((resolve) => setImmediate(resolve, "waits"))]);
}

test("The memory of unread responses is limited, and the slowest readers are disconnected to make room.", () => {
  const { time, memory: all } = memory();
  const [slow, slower, other] = [new Socket(), new Socket(), new Socket()];
  const add = (socket: Socket, bytes: number) => {
    const reserved = all.open(socket, "a");
    return { problem: reserved.settle(bytes), ...reserved };
  };
  assert.equal(add(slow, 21).problem, "too_large");
  assert.equal(add(slower, 15).problem, null);
  assert.equal(
    add(slower, 6).problem,
    "busy",
    "the unread responses of the connection together exceed its memory limit",
  );
  time.ms = 10;
  const taken = add(slow, 20);
  assert.equal(add(other, 6).problem, "busy", "no reader is slow yet");
  time.ms = 1_005;
  assert.equal(add(other, 20).problem, null);
  assert.deepEqual([slower.destroyed, slow.destroyed], [true, false]);
  taken.release();
  taken.release();
  assert.equal(add(slow, 20).problem, null);
  assert.equal(add(new Socket(), 1).problem, "busy");
});

test("Work on a response waits until other responses have released enough memory.", async () => {
  const { memory: all } = memory();
  const [one, two, three] = ["a", "b", "c"].map((client) => all.open(new Socket(), client));
  assert.equal(await one?.reserve(20, here), true);
  assert.equal(await two?.reserve(20, here), true);
  const waits = three?.reserve(20, here) as Promise<boolean>;
  assert.equal(await settled(waits), "waits");
  assert.equal(one?.settle(10), null);
  assert.equal(await settled(waits), "waits");
  one?.release();
  assert.equal(await waits, true);
});

test("Together, several responses that are built for one client use at most half of the memory, and the client with the least memory is served next.", async () => {
  const { memory: all } = memory();
  const open = (client: string) => all.open(new Socket(), client);
  const [greedy, other] = [open("greedy"), open("other")];
  assert.equal(await greedy.reserve(20, here), true);
  const more = [open("greedy").reserve(20, here), open("greedy").reserve(20, here)];
  assert.equal(await settled(Promise.race(more)), "waits");
  assert.equal(
    await other.reserve(20, here),
    true,
    "half of the memory is reserved for other clients",
  );
  const late = open("third").reserve(20, here);
  assert.equal(await settled(late), "waits");
  greedy.settle(10);
  other.release();
  assert.equal(
    await settled(late),
    true,
    "the client without memory is served first, although it came last",
  );
  assert.equal(await settled(Promise.race(more)), "waits");
  greedy.release();
  assert.equal(await Promise.race(more), true);
});

test("A wait for memory ends at its time limit or when its client leaves; a reservation is at most the whole memory.", async () => {
  const { memory: all } = memory({ memoryWaitMs: 1 });
  const [one, two] = [all.open(new Socket(), "a"), all.open(new Socket(), "b")];
  assert.equal(await one.reserve(1_000, here), true);
  assert.equal(await two.reserve(1, here), false);
  const gone = new AbortController();
  const left = memory().memory;
  const first = left.open(new Socket(), "a");
  assert.equal(await first.reserve(40, here), true);
  const waits = left.open(new Socket(), "b").reserve(1, gone.signal);
  gone.abort();
  assert.equal(await waits, false);
});

test("The next request of a connection waits until nearly all bytes of the connection's earlier responses are read.", async () => {
  const { memory: all } = memory();
  const socket = new Socket();
  const first = all.open(socket, "a");
  assert.equal(first.readOn(here), null);
  first.settle(6);
  const next = all.open(socket, "a").reserve(1, here);
  const pipeline = all.open(socket, "a").readOn(here) as Promise<void>;
  assert.equal(await settled(next), "waits");
  assert.equal(await settled(pipeline), "waits");
  first.release();
  assert.deepEqual([await next, await pipeline], [true, undefined]);
});

test("A request waits for the responses before its own, and not for later ones.", async () => {
  const { memory: all } = memory();
  const socket = new Socket();
  const first = all.open(socket, "a");
  all.open(socket, "a").settle(6);
  assert.equal(first.readOn(here), null);
  assert.equal(await settled(first.reserve(1, here)), true);
});

test("A reader does not count as slow while an earlier response of its connection is being built.", () => {
  const { time, memory: all } = memory({ unreadBytes: 30 });
  const socket = new Socket();
  const first = all.open(socket, "a");
  const behind = all.open(socket, "a");
  assert.equal(behind.settle(20), null);
  const other = all.open(new Socket(), "b");
  time.ms = 5_000;
  assert.equal(other.settle(30), "busy");
  first.settle(1);
  first.release();
  time.ms = 5_999;
  assert.equal(other.settle(30), "busy");
  assert.equal(socket.destroyed, false);
  time.ms = 6_000;
  assert.equal(other.settle(30), null);
  assert.equal(socket.destroyed, true);
});

test("A reader that becomes slow is disconnected, and a response that waits for memory gets the reader's memory.", async () => {
  const { time, memory: all } = memory();
  const slow = new Socket();
  all.open(slow, "a").settle(20);
  all.open(slow, "a");
  const waits = all.open(new Socket(), "b").reserve(30, here);
  assert.equal(await settled(waits), "waits");
  time.ms = 1_000;
  assert.equal(await waits, true);
  assert.equal(slow.destroyed, true);
});

test("A request's timer does not keep the built response in memory.", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const request = { left: new AbortController().signal } as unknown as HttpRequest;
  const time = { limitMs: 60_000, waitMs: 60_000 };
  const answer = async () => new WeakRef(await inTime(request, time, async () => ({ body: [1] })));
  const reserved = await answer();
  await new Promise(setImmediate);
  collect();
  assert.equal(reserved.deref(), undefined);
  assert.equal(request.left.aborted, false);
});

test("The memory limit for responses is at most 256 MiB, and at least 16 MiB in the process of this test.", () => {
  const bytes = answerBytesHere();
  assert.ok(bytes >= 16 * 1_048_576 && bytes <= 256 * 1_048_576, `the limit is ${bytes} bytes`);
});
