// Tests that a standby can take over while workers run. With synchronous replication, no acknowledged job may be lost.
// With asynchronous replication, only jobs that were not replicated yet may be lost.
import type { Entry } from "../../../worker/run-log.ts";
import type { FaultGroup, Field } from "../../field/field.ts";
import type { LoadPlan } from "../../field/load.ts";
import type { Stand } from "../../field/stand.ts";
import { measureRecovery, type Way } from "../outage/way-back.ts";
import { refusedOnStandby } from "./on-standby.ts";
import { type Pair, pairOf } from "./pair.ts";

const MEMBERS = 2;
const RATE = 20;
const MODES = ["safe", "fast"] as const;
/** The time from the fault to the promotion of the standby. */
const DECISION_MS = 2_000;
/** The same time in cutOff(). This fault closes no connection, so workers detect the fault only by a timeout. */
const CERTAINTY_MS = 20_000;

export const group: FaultGroup = {
  name: "failover",
  title:
    "a standby takes over, with and without synchronous replication; the primary is killed, read-only or cut off",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    await synchronousAndDead(field);
    await asynchronousAndDead(field);
    if (field.brief) return;
    await fencedReadOnly(field);
    await cutOff(field);
  },
};

async function synchronousAndDead(field: Field): Promise<void> {
  const pair = await pairOf(field);
  const way = await staffed(field, pair, "-sync", {});
  await pair.synchronous();
  const [stand] = way.stands;
  if (stand !== undefined) await refusedOnStandby(field, pair.standby, databaseOf(stand.url));
  field.say("synchronous: the primary dies, the standby is promoted");
  await measureRecovery(way, "failover, synchronous", async () => {
    await pair.primary.kill();
    await field.outage(DECISION_MS);
    return pair.standby.promote();
  });
  await field.each(way.stands, (stand) => stand.end());
}

async function asynchronousAndDead(field: Field): Promise<void> {
  const pair = await pairOf(field);
  // Without keys, no job replaces another job, so each added job without a successful run is lost.
  const make = (n: string) => ({
    identifier: "single",
    payload: { n, ms: 1, failures: 0, children: 0 },
  });
  const way = await staffed(field, pair, "-async", { make });
  field.say("asynchronous: the primary dies a second ahead of its standby");
  const marks = new Map<Stand, number>();
  const dies = async () => {
    for (const stand of way.stands) marks.set(stand, stand.log.read().length);
    await field.outage(300);
    const [sender] = await pair.primary.sql<{ pid: number }>("select pid from pg_stat_replication");
    process.kill(sender?.pid ?? 0, "SIGSTOP");
    await field.outage(1_000);
    await pair.primary.kill();
    await field.outage(DECISION_MS);
    return pair.standby.promote();
  };
  await measureRecovery(way, "failover, asynchronous", dies, { losesWrites: true });
  await field.each(way.stands, async (stand) => {
    const judged = (log: readonly Entry[]) => unreplicated(stand, log, marks.get(stand) ?? 0);
    await stand.end({ judged });
  });
}

/**
 * Returns a sentence for each replicated job that is lost. The first `mark` entries of the log were written at least
 * 300 ms before the replication stopped, so their jobs were replicated.
 */
function unreplicated(stand: Stand, log: readonly Entry[], mark: number): string[] {
  const succeeded = new Set(
    stand
      .runs()
      .filter(({ ok }) => ok)
      .map(({ n }) => n),
  );
  const lost = log.flatMap((entry, at) =>
    entry.e === "added" && !succeeded.has(entry.n) ? [{ n: entry.n, at }] : [],
  );
  stand.figure("acknowledged jobs that are lost", lost.length, { unit: "" });
  return lost.filter(({ at }) => at < mark).map(({ n }) => `${n} is lost, and had been replicated`);
}

/** The primary becomes read-only, but keeps its sessions open. */
async function fencedReadOnly(field: Field): Promise<void> {
  const pair = await pairOf(field);
  const way = await staffed(field, pair, "-fenced", {});
  field.say("the primary is made read-only, the standby promoted");
  await measureRecovery(way, "failover, old primary read-only", async () => {
    await pair.primary.sql("alter system set default_transaction_read_only = on");
    await pair.primary.sql("select pg_reload_conf()");
    await field.outage(DECISION_MS);
    await pair.caughtUp();
    return pair.standby.promote();
  });
  await field.each(way.stands, (stand) => stand.end());
}

/** The primary becomes unreachable, but keeps its sessions open, with their locks. */
async function cutOff(field: Field): Promise<void> {
  const pair = await pairOf(field);
  const way = await staffed(field, pair, "-cut-off", { parameters: "&query_timeout=5000" });
  await pair.synchronous();
  field.say("the primary is cut off; the standby is promoted once that is certain");
  await measureRecovery(way, "failover, old primary cut off", async () => {
    pair.wire.mute();
    await field.outage(CERTAINTY_MS);
    return pair.standby.promote();
  });
  await field.each(way.stands, (stand) => stand.end());
}

async function staffed(
  field: Field,
  pair: Pair,
  name: string,
  { parameters = "", ...plan }: LoadPlan & { readonly parameters?: string },
): Promise<Way> {
  const everybodyUrl = (url: string) => pair.url(databaseOf(url));
  const stands = await field.stands(pair.primary, { modes: MODES, name, everybodyUrl });
  await field.each(stands, async (stand) => {
    await stand.hire(MEMBERS);
    stand.load(RATE, { url: stand.url + parameters, ...plan });
    await stand.startAfter(0);
  });
  return { field, stands, rate: RATE };
}

/** Uses a regular expression, because the URL may have several hosts. */
const databaseOf = (url: string): string => /\/([^/?]+)(\?|$)/.exec(url)?.[1] ?? "";
