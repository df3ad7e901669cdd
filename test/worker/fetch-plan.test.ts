// Tests FetchPlan and RoundTrips. A plan is drained if a fetch would find nothing. A fetch is full if it has found as
// many jobs as it requested, and short if it has found fewer.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WorkerError } from "../../src/base/errors.ts";
import type { JobKind } from "../../src/queue/fetch/fetch-form.ts";
import type { FetchedJob } from "../../src/worker/execute/fetched-job.ts";
import { BEGINNING, FetchPlan } from "../../src/worker/fetch/fetch-plan.ts";
import { RoundTrips } from "../../src/worker/safe/round-trips.ts";
import { manualClock } from "../support/manual-clock.ts";

const jobs = (count: number, runAtSeconds = 1_000, isQueued = false) =>
  Array.from({ length: count }, () => ({ priority: 3, runAtSeconds, isQueued }) as FetchedJob);

/** fetch() makes a request, and records `found` as the answer after `tookMs`. */
function planned(free: JobKind = "all") {
  const clock = manualClock();
  const plan = new FetchPlan(clock, free);
  const fetch = (found: readonly FetchedJob[], { want = 10, tookMs = 0, queues = false } = {}) => {
    const request = plan.request(want, false);
    clock.advance(tookMs);
    return plan.learn(found, request, queues);
  };
  return { clock, plan, fetch };
}

const quick = ({ plan }: { plan: FetchPlan }) => plan.request(10, true).isQuick;

describe("A fetch plan", () => {
  test("is drained after a short fetch from the beginning of the index, until jobs may be ready.", () => {
    const { plan, fetch } = planned();
    assert.equal(plan.isDrained, false);
    assert.equal(fetch(jobs(10)), false);
    assert.equal(plan.isDrained, false);
    // This fetch began at the last job of the first fetch.
    assert.equal(fetch(jobs(0)), false);
    assert.equal(fetch(jobs(9)), true);
    assert.equal(plan.isDrained, true);
    plan.raise();
    assert.equal(plan.isDrained, false);
  });

  test("is not drained by a fetch that was sent before the last wake.", () => {
    const { plan } = planned();
    const request = plan.request(10, false);
    plan.wake(true);
    assert.equal(plan.learn([], request, false), false);
    assert.equal(plan.isDrained, false);
  });

  test("requests jobs of named queues as long as some queue is free.", () => {
    const { plan, fetch } = planned();
    assert.equal(plan.request(10, false).queues, true);
    fetch(jobs(0), { queues: false });
    assert.equal(plan.request(10, false).queues, false);
    // A queue is free, and this fetch has not read the queue's jobs.
    assert.equal(fetch(jobs(0), { queues: true }), false);
    assert.equal(plan.request(10, false).queues, true);
    assert.equal(planned("fast").plan.request(10, false).queues, false);
  });

  test("searches for a free queue at once after a run of a queue has ended, even if the answer to an earlier fetch follows.", () => {
    const { clock, plan } = planned();
    const earlier = plan.request(10, false);
    clock.advance(100);
    plan.raise(true);
    // This fetch has read the queues before the worker unlocked one of them.
    assert.equal(plan.learn([], earlier, false), false);
    const next = plan.request(10, false);
    assert.equal(next.findsFreeQueue, true);
    assert.equal(plan.learn([], next, true), false);
    assert.equal(plan.isDrained, false);
  });

  test("searches for a free queue only at intervals while no queue is free, and at once after a run of a queue has ended.", () => {
    const { clock, plan } = planned();
    const findsFreeQueue = () => plan.request(10, false).findsFreeQueue;
    const learn = (free: boolean | null, tookMs: number) => {
      const request = plan.request(10, false);
      clock.advance(tookMs);
      return plan.learn([], request, free);
    };
    learn(true, 10);
    assert.equal(findsFreeQueue(), true);
    assert.equal(learn(false, 10), true);
    assert.equal(plan.requestDueSearch(), Number.POSITIVE_INFINITY);
    clock.advance(100);
    plan.raise();
    assert.equal(findsFreeQueue(), false);
    assert.equal(learn(null, 1), true);
    assert.equal(plan.requestDueSearch(), 89);
    clock.advance(89);
    assert.equal(plan.requestDueSearch(), Number.POSITIVE_INFINITY);
    assert.equal(plan.isDrained, false);
    assert.equal(findsFreeQueue(), true);
    learn(false, 100);
    assert.equal(findsFreeQueue(), false);
    plan.raise(true);
    assert.equal(findsFreeQueue(), true);
  });

  test("is not drained by an empty fetch if a parallel full fetch returns jobs with and without a named queue.", () => {
    const { plan } = planned();
    // The full fetch may have locked jobs that it did not return, and the empty fetch may have skipped these jobs.
    const [one, other] = [plan.request(2, false), plan.request(10, false)];
    plan.learn([...jobs(1), ...jobs(1, 1_000, true)], one, true);
    assert.equal(plan.learn([], other, true), false);
  });

  test("requests a quick fetch only for the first jobs that are announced to a drained worker.", () => {
    const at = planned();
    at.plan.wake(true);
    assert.equal(quick(at), false);
    at.fetch(jobs(0));
    at.plan.wake(false);
    assert.equal(quick(at), false);
    at.fetch(jobs(0));
    at.plan.wake(true);
    assert.equal(quick(at), true);
    assert.equal(quick(at), false);
  });

  test("requests no quick fetch if a quick fetch would miss jobs of named queues or take jobs of the fast mode.", () => {
    const free = planned();
    free.fetch(jobs(0), { queues: true });
    free.plan.wake(true);
    assert.equal(quick(free), false);
    const safe = planned("safe");
    safe.fetch(jobs(0));
    safe.plan.wake(true);
    assert.equal(quick(safe), false);
  });

  test("leaves out one quick fetch after the first quick fetch that finds nothing, and two after the second in a row.", () => {
    const at = planned();
    const news = () => {
      at.fetch(jobs(0));
      at.plan.wake(true);
      return at.plan.request(10, true);
    };
    const tried: boolean[] = [];
    for (let n = 0; n < 7; n++) {
      const request = news();
      tried.push(request.isQuick);
      if (request.isQuick) assert.equal(at.plan.learn([], request, false), false);
    }
    assert.deepEqual(tried, [true, false, true, false, false, true, false]);
  });

  test("requests one job after a fetch that took a second or more and found too few jobs, and then twice as many after each full fetch.", () => {
    const { plan, fetch } = planned();
    const want = () => plan.request(100, false).want;
    assert.equal(want(), 100);
    fetch(jobs(0), { tookMs: 2_000 });
    assert.equal(want(), 1);
    fetch(jobs(1));
    fetch(jobs(2));
    assert.equal(want(), 4);
    fetch(jobs(0));
    assert.equal(want(), 100);
  });

  test("allows fetches of up to a minute after a fetch that timed out, until a fetch takes less than 4 s.", () => {
    const { plan, fetch } = planned();
    assert.equal(plan.learnFailure(new Error("lost")), false);
    assert.equal(plan.learnFailure(new WorkerError("database_timeout", "too long")), true);
    const { isPatient, want } = plan.request(100, false);
    assert.deepEqual([isPatient, want], [true, 1]);
    fetch(jobs(1), { tookMs: 4_000 });
    assert.equal(plan.isPatient, true);
    fetch(jobs(2), { tookMs: 3_999 });
    assert.equal(plan.isPatient, false);
  });
});

describe("The start of a fetch", () => {
  test("is, in the first 50 ms after a full fetch, the last job of that fetch; later, the beginning of the index.", () => {
    const { clock, plan, fetch } = planned();
    assert.equal(plan.request(1, false).start, BEGINNING);
    clock.advance(100);
    fetch(jobs(1), { want: 1 });
    const { start } = plan.request(1, false);
    assert.equal(start.priority, 3);
    assert.ok(Number(start.runAtSeconds) < 1_000);
    clock.advance(50);
    assert.equal(plan.request(1, false).start, start);
    clock.advance(1);
    assert.equal(plan.request(1, false).start, BEGINNING);
  });

  test("is, after a slower full fetch, the last job of that fetch for twenty times the fetch's duration, but at most for a second.", () => {
    for (const [tookMs, trustMs] of [
      [10, 200],
      [500, 1_000],
    ] as const) {
      const { clock, plan, fetch } = planned();
      clock.advance(100);
      fetch(jobs(1), { want: 1, tookMs });
      clock.advance(trustMs);
      assert.notEqual(plan.request(1, false).start, BEGINNING);
      clock.advance(1);
      assert.equal(plan.request(1, false).start, BEGINNING);
    }
  });

  test("is the beginning of the index after a short fetch, and after a wake.", () => {
    const { plan, fetch } = planned();
    fetch(jobs(10));
    fetch(jobs(9));
    assert.equal(plan.request(1, false).start, BEGINNING);
    fetch(jobs(10));
    plan.wake(false);
    assert.equal(plan.request(1, false).start, BEGINNING);
  });

  test("is the beginning of the index after a fetch of jobs of named queues, because the fetch may have left out earlier jobs.", () => {
    const { plan, fetch } = planned();
    fetch(jobs(10), { queues: true });
    fetch(jobs(10, 1_000, true));
    assert.equal(plan.request(1, false).start, BEGINNING);
  });
});

describe("Fetching ahead", () => {
  test("follows the speed at which jobs end; after more than a second without a fetch, only the latest speed counts.", () => {
    const { clock, plan } = planned();
    assert.equal(plan.ahead, 0);
    // The speed is the mean of 0 and 100 jobs a millisecond. Jobs are fetched ahead for 25 ms.
    plan.countEnded(1_000);
    clock.advance(10);
    plan.measure();
    assert.equal(plan.ahead, 1_250);
    plan.countEnded(1_000);
    clock.advance(10);
    plan.measure();
    assert.equal(plan.ahead, 1_875);
    plan.countEnded(1);
    clock.advance(2_000);
    plan.measure();
    assert.equal(plan.ahead, 0);
  });

  test("starts again from zero after resetSpeed().", () => {
    const { clock, plan } = planned();
    plan.countEnded(1_000);
    clock.advance(10);
    plan.measure();
    plan.resetSpeed();
    assert.equal(plan.ahead, 0);
  });
});

describe("Round trips", () => {
  test("count as under way until they have an answer, however long that takes.", async () => {
    const clock = manualClock();
    let slow = 0;
    const trips = new RoundTrips(clock, () => void slow++);
    const stream = {};
    const own = trips.ofStream(stream);
    const first = trips.begin(stream, { want: 10, isPatient: false });
    const second = trips.begin(stream, { want: 3, isPatient: false });
    const other = trips.begin({}, { want: 100, isPatient: true });
    assert.equal(own.hasPatient, true);
    trips.end(other);
    assert.equal(own.hasPatient, false);
    assert.deepEqual([own.requested, own.hasPrompt], [13, true]);
    clock.advance(20);
    // After 20 ms another fetch may be sent.
    assert.deepEqual([slow, own.requested, own.hasPrompt], [2, 13, false]);
    clock.advance(3_600_000);
    assert.equal(own.requested, 13);
    let ended = false;
    const end = trips
      .waitForAll(() => {})
      .then(() => {
        ended = true;
      });
    trips.end(first);
    assert.deepEqual([own.requested, trips.isNone, ended], [3, false, false]);
    trips.end(second);
    await end;
    assert.deepEqual([own.requested, trips.isNone], [0, true]);
    await trips.waitForAll(() => {});
  });

  test("that only flush results do not delay a fetch.", () => {
    const trips = new RoundTrips(manualClock(), () => {});
    const stream = {};
    trips.begin(stream, null);
    assert.deepEqual([trips.ofStream(stream).hasPrompt, trips.isNone], [false, false]);
  });
});
