// Misbehavior of tasks: they throw unusual values, reject with them or return them, block their process, never end, or
// end late.
import { setTimeout as sleep } from "node:timers/promises";

const refuse = (): never => {
  throw new Error("must not be read");
};

/** Functions that make the values to throw, to reject with or to return. Many of the values are hard to print. */
const THROWN: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  false: () => false,
  number: () => Number.NaN,
  symbol: () => Symbol("thrown"),
  text: () => "x".repeat(100_000_000),
  function: () => refuse,
  circular: () => {
    const one: Record<string, unknown> = {};
    one["self"] = one;
    return one;
  },
  "no prototype": () => Object.create(null),
  getters: () =>
    Object.defineProperties(
      {},
      Object.fromEntries(
        ["message", "stack", "name", "code", "cause", "then", "toString"].map((name) => [
          name,
          { get: refuse, enumerable: true },
        ]),
      ),
    ),
  "error with getters": () =>
    Object.defineProperties(new Error("hidden"), {
      message: { get: refuse },
      stack: { get: refuse },
      name: { get: refuse },
    }),
  "error without text": () => Object.assign(new Error("x"), { message: {}, stack: null }),
  "error of a symbol": () => Object.assign(new Error("x"), { message: Symbol("message") }),
  "long error": () => new Error("x".repeat(100_000_000)),
  "many errors": () => new AggregateError(Array.from({ length: 100_000 }, () => new Error("one"))),
  "its own cause": () => {
    const error = new Error("round");
    error.cause = error;
    return error;
  },
  proxy: () => hostile({}),
  "proxy of an error": () => hostile(new Error("hidden")),
  revoked: () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  zero: () => new Error("a\0b\ud800"),
};

function hostile(target: object): object {
  const traps = ["get", "has", "getPrototypeOf", "ownKeys", "getOwnPropertyDescriptor", "set"];
  return new Proxy(target, Object.fromEntries(traps.map((trap) => [trap, refuse])));
}

export const THROWS: readonly string[] = Object.keys(THROWN).flatMap((name) => [
  `throws ${name}`,
  `rejects with ${name}`,
  `returns ${name}`,
]);

/**
 * Does what `behavior` names: one of THROWS, `blocks 5` (seconds), or `late`. If its first word is none of these
 * verbs, returns a promise that never settles.
 */
export function misbehave(behavior: string, signal: AbortSignal): unknown {
  const [verb = "", ...words] = behavior.split(" ");
  const made = THROWN[words.slice(verb === "rejects" ? 1 : 0).join(" ")];
  if (verb === "throws") throw made?.();
  if (verb === "rejects") return sleep(1).then(() => Promise.reject(made?.()));
  if (verb === "returns") return made?.();
  if (verb === "blocks") return block(Number(words[0]) * 1_000);
  if (verb === "late") return late(signal);
  return new Promise(() => {});
}

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/**
 * Rejects 100 ms after the signal has aborted. If the signal aborts at a time limit, the attempt has failed before
 * this rejection.
 */
async function late(signal: AbortSignal): Promise<never> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  await sleep(100);
  throw new Error("too late");
}
