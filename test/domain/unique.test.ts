// Tests which jobs get the same job key by the option `unique`, and which options of a job are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type JobSpec,
  jobForInterceptors,
  resolveJob,
  resolveJobs,
} from "../../src/domain/job-spec.ts";
import { rawJson } from "../../src/domain/payload.ts";
import { type Unique, uniqueKey } from "../../src/domain/unique.ts";

const keyOf = (
  payload: unknown,
  unique: Partial<Unique> = {},
  more: JobSpec = {},
  identifier = "t",
) =>
  resolveJob({
    identifier,
    payload,
    spec: { unique: { by: ["args"], while: "unfinished", ...unique }, ...more },
  }).jobKey;

test("The key is the hash of a documented text, so that other programs can compute the key.", async () => {
  const { createHash } = await import("node:crypto");
  const made = (text: string) => `u:${createHash("sha256").update(text).digest("base64url")}`;
  assert.equal(
    keyOf({ b: 1.5, a: [1e2, "é\n"], 10: null, 9: true }),
    made('["t",{"args":{"10":null,"9":true,"a":[100,"é\\n"],"b":15e-1}},null]'),
  );
  const by = ["queue", "args.user.id"] as const;
  assert.equal(
    keyOf({ user: { id: 7 } }, { by }, { queueName: "q" }),
    made('["t",{"args.user.id":7,"queue":"q"},null]'),
  );
});

test("Equal values have the same key, however they are written.", () => {
  const texts = [
    ...['{"a":1,"b":[true,"é"]}', ' { "b" : [ true , "\\u00e9" ] , "a" : 1.0 } '],
    '{"a":2,"a":10e-1,"b":[true,"é"]}',
  ];
  assert.equal(new Set(texts.map((text) => keyOf(rawJson(text)))).size, 1);
  assert.equal(keyOf({ a: 1, b: [true, "é"] }), keyOf(rawJson(texts[0] as string)));
  assert.equal(keyOf({ n: -0 }), keyOf(rawJson('{"n":-0.0}')));
});

test("Numbers keep all digits, and different values have different keys.", () => {
  const texts = [
    ...["9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808"],
    ...[
      "0.1",
      "0.10000000000000000001",
      "1e400",
      "1e401",
      "-1",
      "1",
      '"1"',
      "null",
      "true",
      '"null"',
    ],
    ...[
      "[]",
      "{}",
      "[1]",
      "[[1]]",
      "[1,2]",
      '["1,2"]',
      '{"a":1}',
      '{"a":{"a":1}}',
      '{"__proto__":1}',
    ],
  ];
  const keys = new Set(texts.map((text) => keyOf(rawJson(`{"v":${text}}`))));
  assert.equal(keys.size, texts.length);
  assert.equal(keyOf({ v: 9007199254740993n }), keyOf(rawJson('{"v":9007199254740993}')));
});

test("The task always counts for the key; the queue and members of the payload count only if they are listed.", () => {
  const by = ["args.user.id"] as const;
  const one = keyOf({ user: { id: 7, name: "a" } }, { by });
  assert.equal(keyOf({ user: { name: "b", id: 7 }, more: 1 }, { by }, { queueName: "q" }), one);
  assert.notEqual(keyOf({ user: { id: 8 } }, { by }), one);
  assert.notEqual(keyOf({ user: { id: 7 } }, { by }, {}, "other"), one);
  const queued = (queueName?: string) => keyOf({}, { by: ["queue"] }, { queueName });
  assert.equal(new Set([queued(), queued("q"), queued("null")]).size, 3);
  assert.equal(
    keyOf({ a: 1, b: 2 }, { by: ["args.a", "args.b"] }),
    keyOf({ a: 1, b: 2 }, { by: ["args.b", "args.a", "args.a"] }),
  );
});

test("Equal jobs have the same key in one period, and another key in the next period.", () => {
  const at = (nowMs: number) =>
    uniqueKey(
      { identifier: "t", payload: "{}", queueName: null },
      { by: ["args"], periodMs: 3_600_000, while: "failed_too" },
      nowMs,
    );
  const midnight = Date.UTC(2030, 0, 1);
  assert.equal(at(midnight), at(midnight + 3_599_999));
  assert.notEqual(at(midnight), at(midnight - 1));
  assert.notEqual(at(midnight), at(midnight + 3_600_000));
  assert.notEqual(keyOf({}, { periodMs: 1 }), keyOf({}));
});

test("The key of a unique job stays the same when an interceptor changes the payload.", () => {
  const given = jobForInterceptors({ identifier: "t", payload: { n: 1 }, spec: unique("waiting") });
  assert.equal(given.spec?.jobKey, keyOf({ n: 1 }));
  const changed = resolveJob({ ...given, payload: { n: 1, trace: "x" } });
  assert.deepEqual([changed.jobKey, changed.keyRule], [keyOf({ n: 1 }), "preserve_run_at"]);
});

const unique = (lasts: string, more: object = {}) =>
  ({ unique: { by: ["args"], while: lasts, ...more } }) as JobSpec;
const debounce = { waitMs: 1, maxWaitMs: 2 };

const refused: readonly (readonly [spec: object, message: RegExp, payload?: unknown])[] = [
  [{ ...unique("waiting"), jobKey: "k" }, /spec\.jobKey: use either this or unique, not both/],
  [{ ...unique("waiting"), jobKeyMode: "replace" }, /spec\.jobKeyMode: use either this or unique/],
  [unique("finished"), /spec\.unique\.while: must be one of waiting, unfinished, failed_too/],
  [{ unique: { by: ["args"] } }, /spec\.unique\.while: is required/],
  [{ unique: { while: "waiting" } }, /spec\.unique\.by: is required/],
  [{ unique: { by: [], while: "waiting" } }, /spec\.unique\.by: must list at least one value/],
  [unique("waiting", { by: ["arg"] }), /spec\.unique\.by\[0\]: must be "args", a member/],
  [unique("waiting", { by: ["args."] }), /spec\.unique\.by\[0\]: must be "args"/],
  [unique("waiting", { by: ["args.a"] }), /spec\.unique\.by\[0\]: the payload has no member "a"/],
  [unique("waiting", { by: ["args.a.b"] }), /has no member "a\.b"/, { a: 1 }],
  [unique("waiting", { by: ["args.toString"] }), /has no member "toString"/],
  [unique("waiting", { periodMs: 0 }), /spec\.unique\.periodMs: must be from 1 ms to 365 days/],
  [unique("waiting", { periodM: 1 }), /unknown field, did you mean "periodMs"/],
  [unique("waiting"), /payload: must not be a list/, [1]],
  [
    unique("unfinished"),
    /payload: is nested too deeply/,
    rawJson("[".repeat(1e5) + "]".repeat(1e5)),
  ],
  [{ debounce }, /spec\.debounce: needs a job key or unique/],
  [
    { jobKey: "k", debounce, runAt: new Date() },
    /spec\.runAt: use either this or debounce, not both/,
  ],
  [
    { jobKey: "k", debounce, jobKeyMode: "unsafe_dedupe" },
    /spec\.jobKeyMode: use either this or debounce/,
  ],
  [{ ...unique("unfinished"), debounce }, /spec\.debounce: needs unique with while: "waiting"/],
  [{ jobKey: "k", debounce: { waitMs: 2, maxWaitMs: 1 } }, /maxWaitMs: must be at least as long/],
  [{ jobKey: "k", debounce: { waitMs: 1 } }, /spec\.debounce\.maxWaitMs: is required/],
];

for (const [spec, message, payload = {}] of refused) {
  test(`Options are refused: ${message.source}.`, () => {
    const job = { identifier: "t", payload, spec: spec as JobSpec };
    assert.throws(() => resolveJob(job), { code: "bad_input", message });
    assert.throws(() => resolveJobs([{ identifier: "t" }, job]), /jobs\[1\]\./);
  });
}
