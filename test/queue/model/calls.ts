// The calls that a test of the model can make, as values. fast-check generates lists of calls. If a list shows a
// difference between the model and the product, fast-check searches for shorter lists that show a difference, too.
import fc, { type Arbitrary } from "fast-check";
import type { Spec } from "./adding.ts";
import type { Holder } from "./ending.ts";
import type { Verb } from "./operating.ts";
import { type LeaseTerms, RESILIENT } from "./recovering.ts";
import type { Taking } from "./taking.ts";
import { lockedJobsOf, SECOND, type World } from "./world.ts";

/**
 * A call. `jobs` are random numbers, not the places of jobs, because it is unknown in advance which jobs will exist.
 * placesOf() computes the places from these numbers.
 */
export type Call =
  | { readonly do: "add"; readonly specs: readonly Spec[] }
  | { readonly do: "remove"; readonly key: string }
  | ({ readonly do: "take" } & Taking)
  | { readonly do: "finish"; readonly by: Holder; readonly jobs: number[] }
  | { readonly do: "fail"; readonly by: Holder; readonly jobs: number[]; readonly error: string }
  | { readonly do: "give back" | "renew"; readonly by: string; readonly jobs: number[] }
  | { readonly do: "operate"; readonly verb: Verb; readonly jobs: number[] }
  | { readonly do: "enlist"; readonly by: string; readonly terms: LeaseTerms }
  | { readonly do: "heartbeat" | "force unlock"; readonly by: string }
  | { readonly do: "sweep"; readonly delayMs: number }
  | { readonly do: "sweep by hand"; readonly thresholdMs: number; readonly delayMs: number }
  | { readonly do: "reset old locks" }
  | { readonly do: "time passes"; readonly seconds: number };

/**
 * Returns the places of the jobs that the numbers of a call select. An even number selects a job that has the call's
 * `by` as its `lockedBy`. If there is no such job, or the number is odd, any job can be selected, even one that no
 * longer exists.
 */
export function placesOf(world: World, call: Call): number[] {
  if (!("jobs" in call) || world.added === 0) return [];
  const locked = "by" in call ? lockedJobsOf(world, call.by).map(({ place }) => place) : [];
  const place = (one: number) => locked[one % 2 === 0 ? (one / 2) % locked.length : -1];
  return [...new Set(call.jobs.map((one) => place(one) ?? one % world.added))];
}

const jobs = fc.array(fc.nat(60), { minLength: 1, maxLength: 3 });
const by = fc.constantFrom("worker-1", "worker-2");
const key = fc.constantFrom("k1", "k2");
const one = <const T>(...values: readonly T[]) => fc.constantFrom(...values);

const spec: Arbitrary<Spec> = fc.record({
  task: one("send", "resize"),
  payload: one<unknown>({}, { a: 1 }, [1], [2, 3]),
  queue: one(null, null, "line", "row"),
  key: one(null, "k1", "k2"),
  mode: one("replace", "preserve_run_at", "unsafe_dedupe"),
  runIn: one(null, null, -90 * SECOND, 2 * SECOND, 60 * SECOND),
  priority: one(0, 0, -1, 5),
  maxAttempts: one(25, 1, 2),
  flags: one<string[]>([], [], ["slow"], [RESILIENT]),
});

const add = (of: Arbitrary<Spec>): Arbitrary<Call> =>
  fc.array(of, { minLength: 1, maxLength: 3 }).map((specs) => ({ do: "add", specs }));
const keyless = spec.map((given): Spec => ({ ...given, key: null, mode: "replace" }));
const remove = key.map((given): Call => ({ do: "remove", key: given }));
const take: Arbitrary<Call> = fc.record({
  do: fc.constant("take"),
  by,
  want: one(1, 2, 5, 10),
  tasks: one(["send", "resize"], ["send"], ["send", "resize"]),
  forbidden: one<string[]>([], [], ["slow"]),
  share: one(0, 0, 0.4, null),
});
const holder = one("worker-1", "worker-2", null);
const end: Arbitrary<Call> = fc.oneof(
  fc.record({ do: fc.constant("finish"), by: holder, jobs }),
  fc.record({ do: fc.constant("give back"), by, jobs }),
);
const fail: Arbitrary<Call> = fc.record({
  do: fc.constant("fail"),
  ...{ by: holder, jobs, error: one("no", "Recovered: not by a sweep") },
});
const changes = {
  runIn: one(null, -SECOND, 60 * SECOND, 60 * SECOND),
  priority: one(null, 3),
  attempts: one(null, 0, 2),
  // Never null, because a reschedule needs at least one change.
  maxAttempts: one(1, 4),
};
const verb: Arbitrary<Verb> = fc.oneof(
  fc.record({ verb: one("complete", "retry", "run-now") }),
  fc.record({ verb: fc.constant("fail"), reason: one("enough", "no") }),
  fc.record({ verb: fc.constant("reschedule"), ...changes }),
  fc.record({ verb: fc.constant("reschedule"), ...changes }),
);
const operate: Arbitrary<Call> = fc.record({ do: fc.constant("operate"), verb, jobs });
const passes = (...seconds: readonly number[]): Arbitrary<Call> =>
  one(...seconds).map((given) => ({ do: "time passes", seconds: given }));

const terms = one(
  { thresholdMs: 7_000, resilientThresholdMs: 60_000 },
  { thresholdMs: 600_000, resilientThresholdMs: 600_000 },
);
const delayMs = one(0, 0, 30_000);
const recovery: Arbitrary<Call> = fc.oneof(
  fc.record({ do: fc.constant("enlist"), by, terms }),
  fc.record({ do: one("heartbeat", "heartbeat", "force unlock"), by }),
  fc.record({ do: fc.constant("sweep"), delayMs }),
  fc.record({ do: fc.constant("sweep by hand"), thresholdMs: one(0, 300_000), delayMs }),
  fc.constant({ do: "reset old locks" }),
  fc.record({ do: fc.constant("renew"), by, jobs }),
);

/** The areas that are checked, each with its calls. A call that is listed twice is generated twice as often. */
export const mixes = {
  keys: [add(spec), add(spec), remove, take, end, fail, passes(1, 10, 18_000)],
  order: [add(keyless), take, take, end, passes(1, 10, 100)],
  retry: [
    add(keyless),
    take,
    take,
    fail,
    fail,
    operate,
    operate,
    end,
    passes(3, 60, 25_000, 25_000),
  ],
  recovery: [add(spec), take, take, end, fail, recovery, recovery, recovery, passes(5, 61, 18_000)],
} satisfies Record<string, readonly Arbitrary<Call>[]>;

export const callsOf = (mix: readonly Arbitrary<Call>[]): Arbitrary<Call[]> =>
  fc.array(fc.oneof(...mix), { minLength: 1, maxLength: 20, size: "max" });
