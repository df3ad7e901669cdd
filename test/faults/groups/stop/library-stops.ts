// Measures how long programs with a worker of the library take to end after SIGTERM, in every mode. After a case
// without a fault, the worker must have left no locked job and no heartbeat row.
import { type TcpProxy, tcpProxy } from "../../../support/tcp-proxy.ts";
import { machineTime } from "../../../worker/run-log.ts";
import { record } from "../../../worker/workload.ts";
import type { Field } from "../../field/field.ts";
import type { Member, MemberChanges } from "../../field/member.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";

interface Case {
  readonly name: string;
  readonly most: number;
  /** The duration of the worker's only job; undefined: no job. */
  readonly jobMs?: number;
  readonly fault?: "away" | "mute" | "frozen";
  readonly twice?: boolean;
  readonly changes?: MemberChanges;
}

const IDLE_MS = 2_000;
const [STOP_MS, GRACE_MS] = [4_000, 1_000];
/** Includes 1 s for the results and 1 s for the end of the process. */
const GIVEN_UP_MS = STOP_MS + GRACE_MS + 2_000;
const ENDLESS_MS = 120_000;
/** Long enough for a worker to detect that PostgreSQL is away. */
const FAULT_MS = 3_000;

const CASES: readonly Case[] = [
  { name: "idle", most: IDLE_MS },
  { name: "idle, PostgreSQL away", most: IDLE_MS, fault: "away" },
  { name: "idle, connections mute", most: IDLE_MS, fault: "mute" },
  { name: "idle, woken from SIGSTOP", most: IDLE_MS, fault: "frozen" },
  { name: "idle, log disk full", most: IDLE_MS, changes: { stderr: "/dev/full" } },
  { name: "a job of 1 s", most: 1_000 + IDLE_MS, jobMs: 1_000 },
  { name: "a job without end", most: GIVEN_UP_MS, jobMs: ENDLESS_MS },
  {
    name: "a job without end, SIGTERM twice",
    most: GRACE_MS + IDLE_MS,
    jobMs: ENDLESS_MS,
    twice: true,
  },
  {
    name: "a job without end, PostgreSQL away",
    most: GIVEN_UP_MS,
    jobMs: ENDLESS_MS,
    fault: "away",
  },
  {
    name: "a job without end, connections mute",
    most: GIVEN_UP_MS,
    jobMs: ENDLESS_MS,
    fault: "mute",
  },
];

interface Place {
  readonly stand: Stand;
  readonly proxy: TcpProxy;
  member?: Member;
  from: number;
}

export async function libraryStops(field: Field, server: Server): Promise<void> {
  const proxies: TcpProxy[] = [];
  const options = { stopTimeoutMs: STOP_MS, abortGraceMs: GRACE_MS };
  const stands = await field.stands(server, {
    options,
    url: async (url) => {
      const proxy = await tcpProxy(url);
      field.defer(() => proxy.close());
      proxies.push(proxy);
      return proxy.url;
    },
  });
  const places = stands.map((stand, index): Place => {
    return { stand, proxy: proxies[index] as TcpProxy, from: 0 };
  });
  for (const one of field.brief ? CASES.filter((_, n) => n % 3 === 0) : CASES) {
    field.say(one.name);
    await stopAll(field, server, places, one);
  }
  await field.each(stands, async (stand) => {
    await stand.hire();
    await stand.end({ lenient: { leaseLost: true } });
  });
}

async function stopAll(field: Field, server: Server, places: readonly Place[], one: Case) {
  const each = (work: (place: Place) => Promise<void>) =>
    field.each(
      places.map(({ stand }) => stand),
      (stand) => work(places.find((place) => place.stand === stand) as Place),
    );
  await each((place) => prepare(place, one));
  if (one.fault === "away") await server.stop();
  for (const { proxy, member } of places) {
    if (one.fault === "mute") proxy.mute();
    if (one.fault === "frozen") member?.signal("SIGSTOP");
  }
  if (one.fault !== undefined) await field.outage(FAULT_MS);
  await each((place) => stop(place, one));
  for (const { proxy } of places) proxy.calm();
  if (one.fault === "away") await server.start();
  await each((place) => leftBy(place, one));
}

async function prepare(place: Place, { name, jobMs, changes = {} }: Case): Promise<void> {
  const { stand } = place;
  const [member] = await stand.hire(1, changes);
  if (member === undefined) throw new Error("no member was started");
  place.member = member;
  if (jobMs === undefined) return;
  const n = `${name} ${member.by}`;
  const behavior = { n, ms: jobMs, failures: 0, children: 0 };
  const utils = await stand.utils;
  // Graphile workers do not have the task `ours`, so the new worker runs the job.
  record(await utils.addJob("ours", behavior, { maxAttempts: 3 }), stand.log);
  await stand.until("its job runs", () => stand.runs(member.by).some((run) => run.n === n));
}

async function stop({ stand, member }: Place, { name, most, fault, twice }: Case): Promise<void> {
  if (member === undefined) return;
  const late = setTimeout(() => member.signal("SIGKILL"), 40_000);
  member.signal("SIGTERM");
  const from = machineTime();
  if (fault === "frozen") member.signal("SIGCONT");
  if (twice) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    member.signal("SIGTERM");
  }
  const { at, code, signal } = await member.exited;
  clearTimeout(late);
  // The end of the process is logged like a kill. Otherwise the log would not show that abandoned jobs have ended.
  stand.log.write({ e: "dead", by: member.by, t: at });
  stand.figure(`SIGTERM: ${name}`, at - from, { most });
  // If an abandoned job keeps the process alive, the library ends the process with SIGTERM.
  if (code !== 0 && signal !== "SIGTERM")
    stand.problem(`${name}: the process ended with ${signal ?? code}`);
}

async function leftBy({ stand, member }: Place, { name, jobMs, fault }: Case): Promise<void> {
  if (member === undefined) return;
  const locked = `select id from worker._private_jobs where locked_by is not null and locked_by = $1`;
  const ours = () => stand.sql(locked, [member.workerId]);
  await stand.until("the database answers", async () => (await ours()).length >= 0);
  if (fault === undefined && (await ours()).length > 0)
    stand.problem(`${name}: the worker's job is still locked`);
  const text = "select id from worker._private_workers where id = $1";
  if (fault === undefined && (await stand.sql(text, [member.workerId])).length > 0) {
    stand.problem(`${name}: the worker's heartbeat row is left`);
  }
  if (jobMs === undefined || jobMs < ENDLESS_MS) return;
  // Shortens the endless job, so that its next run ends at once.
  await stand.sql(`update worker._private_jobs set payload =
    jsonb_set(payload::jsonb, '{ms}', '0')::json where payload::text like '%120000%'`);
}
