// Tests until when the tokens of a rate are valid: normally for a fixed time after their request. An answer that
// arrives after that time is late. After three late answers in a row, the tokens of each further late answer are valid
// for that time after the answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lapse } from "../../src/worker/limits/lapse.ts";

test("After three late answers in a row, the time of the tokens of each further late answer begins when the answer arrives, until an answer is in time.", () => {
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

test("After three late answers in a row, the tokens of the next late answer are valid for at least 20 ms, so that a job can start.", () => {
  let nowMs = 0;
  const lapse = new Lapse({ monotonic: () => nowMs });
  const all = [1, 2, 3, 4].map(() => {
    const sentAtMs = nowMs;
    nowMs += 3;
    return lapse.untilMs(sentAtMs, 2.5) - nowMs;
  });
  assert.deepEqual(all, [-0.5, -0.5, -0.5, 20]);
});
