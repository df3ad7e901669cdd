// Tests until when the tokens of a rate are valid: for a fixed time from their request. After three answers in a row
// that came too late for that, the time counts from each further late answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lapse } from "../../src/worker/limits/lapse.ts";

test("After three late answers in a row, the time counts from each further late answer, until an answer is in time.", () => {
  let nowMs = 0;
  const lapse = new Lapse({ monotonic: () => nowMs });
  const answer = (tookMs: number) => {
    const sentAtMs = nowMs;
    nowMs += tookMs;
    return lapse.untilMs(sentAtMs, 50) - nowMs;
  };
  assert.equal(answer(10), 40);
  assert.deepEqual([answer(60), answer(60), answer(60)], [-10, -10, -10]);
  assert.deepEqual([answer(60), answer(90)], [50, 50]);
  assert.equal(answer(10), 40);
  assert.equal(answer(60), -10);
});

test("After several late answers, a very short time is lengthened, so that a job can start.", () => {
  let nowMs = 0;
  const lapse = new Lapse({ monotonic: () => nowMs });
  const all = [1, 2, 3, 4].map(() => {
    const sentAtMs = nowMs;
    nowMs += 3;
    return lapse.untilMs(sentAtMs, 2.5) - nowMs;
  });
  assert.deepEqual(all, [-0.5, -0.5, -0.5, 20]);
});
