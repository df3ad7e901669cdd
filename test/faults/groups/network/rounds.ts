// The rounds of the test of network faults. Each round causes one kind of fault on the connections between a worker and
// PostgreSQL.
import { setTimeout as sleep } from "node:timers/promises";
import type { Faults } from "../../../support/tcp-proxy/faults.ts";
import { DIRECTIONS } from "../../../support/tcp-proxy/link.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Wire } from "./wire.ts";

export interface Round {
  readonly what: string;
  /** Whether the round takes too long for a brief run, which skips it. */
  readonly isLong: boolean;
  /** Causes the fault, and resolves when the fault is over. Until then, the caller adds jobs. */
  run(wire: Wire, field: Field): Promise<void>;
}

const FOUND_MS = 20_000;
const FIRST_JOB_MS = 5_000;
const BLACKHOLE_MS = 60_000;

/**
 * Returns a round. Its `fault` makes all connections with one `application_name` useless, but leaves the worker's ends
 * of them open. The round measures how soon the worker has opened as many new connections with this name. `kind`
 * returns the name; null: the worker has no such connections, and the round does nothing.
 */
const found = (
  what: string,
  kind: (wire: Wire) => string | null,
  fault: (faults: Faults) => void,
): Round => ({
  what,
  isLong: true,
  async run(wire) {
    const name = kind(wire);
    if (name === null) return;
    const faults = wire.proxy.of(name);
    const [before, lost] = [faults.accepted, faults.open];
    const at = machineTime();
    fault(faults);
    await wire.stand.until(`${what} is found`, () => faults.accepted >= before + lost, 60_000);
    wire.stand.figure(`${what}: found`, machineTime() - at, { most: FOUND_MS });
    faults.calm();
  },
});

const mute = (faults: Faults) => faults.mute("established");
const halfOpen = (faults: Faults) => faults.lose("server");

const KINDS = ["worker listen", "worker heartbeat", "worker connection", "worker fast lane"];

const blackhole: Round = {
  what: "a blackhole of 60 s",
  isLong: true,
  async run({ stand, proxy }, field) {
    proxy.mute();
    await field.outage(BLACKHOLE_MS);
    const at = machineTime();
    proxy.resume();
    const first = await stand.startAfter(at);
    stand.figure("first job after a blackhole of 60 s", first - at, { most: FIRST_JOB_MS });
  },
};

const lasting = (what: string, ms: number, begin: (faults: Faults) => void): Round => ({
  what,
  isLong: false,
  async run({ stand, proxy }, field) {
    begin(proxy);
    const at = machineTime();
    await stand.startAfter(at);
    await field.outage(field.brief ? ms / 10 : ms);
    const count = stand.runs().filter(({ from }) => from > at).length;
    stand.figure(`${what}: jobs started`, count / ((machineTime() - at) / 1_000), {
      unit: "jobs/s",
    });
    proxy.calm();
  },
});

const resets: Round = {
  what: "resets at random",
  isLong: false,
  async run({ stand, proxy }, field) {
    for (let n = 0; n < field.times(60, 6); n++) {
      const which = stand.dice(4);
      proxy.reset((place) => which === 0 || place % 3 === which - 1);
      await sleep(stand.dice(700));
    }
    stand.figure("resets", field.times(60, 6), { unit: "" });
  },
};

const cuts: Round = {
  what: "cuts behind the n-th message",
  isLong: false,
  async run({ stand, proxy }, field) {
    const { dice } = stand;
    for (let n = 0; n < field.times(80, 8); n++) {
      const before = proxy.cuts;
      const direction = DIRECTIONS[dice(2)];
      proxy.cutBehind(dice(200), {
        isTorn: dice(3) === 0,
        ...(direction === undefined ? {} : { direction }),
      });
      await stand.until("it is cut", () => proxy.cuts > before, 30_000);
      await sleep(dice(100));
    }
    proxy.calm();
    stand.figure("cuts behind a message", proxy.cuts, { unit: "" });
  },
};

export const ROUNDS: readonly Round[] = [
  ...KINDS.map((kind) =>
    found(`${kind}, mute`, (wire) => (wire.kinds.includes(kind) ? kind : null), mute),
  ),
  found("worker listen, half open", () => "worker listen", halfOpen),
  blackhole,
  lasting("round trips of 200 ms", 15_000, (proxy) => proxy.delay(100)),
  lasting("10 kB/s a connection", 15_000, (proxy) => proxy.throttle(10_000)),
  resets,
  cuts,
];
