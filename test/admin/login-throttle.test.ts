// Tests the limit of guesses at a password or token. A guess beyond the limit is refused, and is not compared with the
// password or token. The tests set the clock by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthentication } from "../../src/admin/access/authentication.ts";
import { createLoginThrottle } from "../../src/admin/access/login-throttle.ts";
import { secretOf } from "../../src/admin/access/secret.ts";
import { resolveAuth } from "../../src/admin/config/auth-options.ts";
import { Refusal } from "../../src/http/refusal.ts";
import type { HttpRequest } from "../../src/http/request.ts";

const HOUR_MS = 3_600_000;

function throttleAt() {
  const time = { ms: 0 };
  return { time, throttle: createLoginThrottle(() => time.ms) };
}

const compared = (throttle: ReturnType<typeof createLoginThrottle>, clients: readonly string[]) =>
  clients.filter((client) => throttle.mayCompare(client)).length;

const networks = (count: number) =>
  Array.from({ length: count }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);

test("In one second, at most eight guesses of one network are compared, and at most 64 of all networks together.", () => {
  const { time, throttle } = throttleAt();
  assert.equal(
    compared(
      throttle,
      Array.from({ length: 20 }, () => "192.0.2.1"),
    ),
    8,
  );
  assert.equal(compared(throttle, networks(200)), 56);
  time.ms = 999;
  assert.equal(compared(throttle, ["192.0.2.1", "192.0.2.2"]), 0);
  time.ms = 1_000;
  assert.equal(compared(throttle, networks(200)), 64);
});

test("An IPv6 /64 is one network, and an IPv4-mapped address counts as its IPv4 address.", () => {
  const network = Array.from({ length: 9 }, (_, n) => `2001:db8:0:7:${n}::1`);
  const { throttle } = throttleAt();
  assert.equal(compared(throttle, [...network, "2001:db8:0:8::1"]), 9);
  const mapped = Array.from({ length: 9 }, (_, n) => (n % 2 ? "::ffff:10.0.0.1" : "10.0.0.1"));
  assert.equal(compared(throttleAt().throttle, mapped), 8);
});

test("For an hour after a login, guesses of the same network have no limit, however many guesses other networks make.", () => {
  const { time, throttle } = throttleAt();
  throttle.recordSuccess("login", "2001:db8:0:7::1");
  const guess = () => compared(throttle, networks(1_000));
  const isCompared = () =>
    compared(
      throttle,
      Array.from({ length: 500 }, () => "2001:db8:0:7::2"),
    );
  assert.deepEqual([guess(), isCompared()], [64, 500]);
  time.ms = HOUR_MS - 1;
  assert.deepEqual([guess(), isCompared()], [64, 500]);
  time.ms = HOUR_MS + 1_000;
  assert.deepEqual([isCompared(), guess()], [8, 56]);
});

test("The last ten thousand networks that have logged in are remembered.", () => {
  const { throttle } = throttleAt();
  for (const client of networks(10_001)) throttle.recordSuccess("login", client);
  assert.equal(throttle.hasLoggedIn("login", "10.0.0.0"), false);
  assert.equal(throttle.hasLoggedIn("login", "10.0.0.1"), true);
});

const TOKEN = "a-token-of-24-characters";
const SCRAPER = "a-scraper-of-24-characters";

function authentication() {
  const { time, throttle } = throttleAt();
  const { identify } = createAuthentication({
    auth: resolveAuth({ mode: "bearer", token: TOKEN }),
    label: null,
    metricsToken: secretOf(SCRAPER),
    onLogin: () => {},
    throttle,
  });
  /** Sends a token. Returns the status, and the name of the login or the message of the refusal. */
  const attempt = (token: string, client: string, isScrape = false) => {
    const headers = { authorization: `Bearer ${token}` };
    try {
      return `200 ${identify({ headers, client } as unknown as HttpRequest, isScrape)}`;
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return `${error.status} ${error.message}`;
    }
  };
  return { time, attempt };
}

test("Beyond the limit, a right guess gets the same answer as wrong guesses.", () => {
  for (const count of [1, 100, 5_000]) {
    const { time, attempt } = authentication();
    const from = networks(count);
    const answers = Array.from({ length: 5_000 }, (_, n) => {
      time.ms = n / 10;
      return attempt(n === 4_000 ? TOKEN : `guess-${n}`, from[n % count] ?? "");
    });
    const distinct = answers.filter((text) => !text.startsWith("429"));
    assert.equal(distinct.length, count === 1 ? 8 : 64);
    assert.equal(answers[4_000], answers.at(-1));
  }
});

test("A scraper whose token was accepted is served while other networks guess, but wrong tokens from its network are limited.", () => {
  const { attempt } = authentication();
  const scraper = "192.0.2.7";
  assert.equal(attempt(SCRAPER, scraper, true), "200 metrics");
  for (const client of networks(100)) attempt("guess", client);
  assert.equal(attempt(SCRAPER, scraper, true), "200 metrics");
  assert.match(attempt("guess", scraper, true), /^429/);
  assert.match(attempt(TOKEN, scraper), /^429/);
  assert.match(
    attempt(SCRAPER, "192.0.2.8", true),
    /^429/,
    "from another network, even the right token is refused",
  );
});
