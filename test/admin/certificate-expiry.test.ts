// Tests the warnings that a running admin logs if its certificate expires soon or has expired.
import assert from "node:assert/strict";
import { test } from "node:test";
import { watchExpiry } from "../../src/admin/certificate-expiry.ts";
import { manualClock } from "../support/manual-clock.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

test("Twice a day, a warning is logged if the certificate expires within a week or has expired.", () => {
  const clock = manualClock();
  const certificate = { expiresAt: new Date(Date.now() + 8 * DAY_MS) };
  const warnings: string[] = [];
  const logger = { warn: (_: object, message: string) => warnings.push(message) };
  const end = watchExpiry(certificate, logger, clock);
  clock.advance(DAY_MS);
  assert.deepEqual(warnings, []);
  certificate.expiresAt = new Date(Date.now() + 2 * DAY_MS);
  clock.advance(DAY_MS);
  assert.deepEqual(warnings, Array(2).fill("the certificate expires within a week"));
  certificate.expiresAt = new Date(Date.now() - 1);
  clock.advance(DAY_MS / 2);
  assert.equal(warnings.at(-1), "the certificate has expired; browsers reject it");
  end();
  assert.equal(clock.nextMs, null);
});
