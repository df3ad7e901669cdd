// Jobs of a transactional task kill their process around the commit, and connections are cut between a commit and its
// answer. Even so, each job whose add was acknowledged has exactly one effect: one row of the table `effects`.
import type { JobToAdd } from "../../../src/domain/job-spec.ts";
import type { Random } from "../../support/random-calls.ts";
import { type TcpProxy, tcpProxy } from "../../support/tcp-proxy.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import { EFFECTS, PAID, PAYING_POINTS, type Payment } from "../field/paying-task.ts";
import type { Stand } from "../field/stand.ts";

/** In both modes together. */
const KILLS = 1_000;
/** Commits whose answer is lost, in both modes together. */
const CUTS = 200;
const MODES = ["safe", "fast"] as const;
/** The number of worker processes in each mode: in full runs, and in brief runs. */
const MEMBERS = [4, 2] as const;
const LIMIT_MINUTES = 30;
/** A *deadly* job kills its process. With more jobs per second, one kill would often end several deadly jobs. */
const PER_SECOND = 3;
const LIMIT_MS = LIMIT_MINUTES * 60_000;
/** A short lease, so that the jobs of a killed worker run again soon. */
const RECOVERY = { heartbeatIntervalMs: 500, thresholdMs: 2_000 };

export const group: FaultGroup = {
  name: "transactional",
  title: `${KILLS} × kill -9 around the commit of a transactional task, ${CUTS} × the answer to the commit lost`,
  limitMinutes: LIMIT_MINUTES,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const proxies = new Map<string, TcpProxy>();
    const stands = await field.stands(server, {
      ...{ modes: MODES, recovery: RECOVERY },
      async url(url, { name }) {
        const proxy = await tcpProxy(url);
        field.defer(() => proxy.close());
        proxies.set(name, proxy);
        return proxy.url;
      },
    });
    const least: Least = {
      kills: field.times(KILLS, 20) / MODES.length,
      cuts: field.times(CUTS, 4) / MODES.length,
    };
    await field.each(stands, (stand) =>
      paidOnce(field, stand, proxies.get(stand.mode.name) as TcpProxy, least),
    );
  },
};

/** The minimum numbers of faults in one mode. */
interface Least {
  readonly kills: number;
  readonly cuts: number;
}

async function paidOnce(
  field: Field,
  stand: Stand,
  proxy: TcpProxy,
  { kills, cuts }: Least,
): Promise<void> {
  await stand.sql(EFFECTS);
  const over = Promise.withResolvers<void>();
  let [deadly, killed, isOver] = [0, 0, false];
  const load = stand.load(PER_SECOND, {
    make: (n, _producer, dice) => payment(n, dice, killed < kills && dice(3) > 0 ? deadly++ : null),
  });
  const cutting = (async () => {
    for (let cut = 0; cut < cuts && !isOver; cut++) {
      proxy.cutAnswer(PAID);
      await stand.until("a commit's answer is lost", () => isOver || proxy.cuts > cut, LIMIT_MS);
    }
  })();
  cutting.catch(() => {}); // `cutting` is awaited below.
  const places = Array.from({ length: field.times(...MEMBERS) }, async () => {
    while (!isOver) {
      const [member] = await stand.hire();
      await Promise.race([member?.exited, over.promise]);
      if (member?.exit?.signal !== "SIGKILL") continue;
      if (++killed % 100 === 0) field.say(`${stand.mode.name}: ${killed} killed`);
    }
  });
  await stand.until("enough processes are killed", () => killed >= kills, LIMIT_MS);
  await cutting;
  await load.stop();
  const left = () => stand.sql("select from worker._private_jobs limit 1");
  await stand.until("all are paid", async () => (await left()).length === 0, LIMIT_MS);
  isOver = true;
  over.resolve();
  await Promise.all(places);
  const problems = await problemsOf(stand);
  stand.figure("processes killed around a commit", killed, { least: kills, unit: "" });
  stand.figure("commits whose answer was lost", proxy.cuts, { least: cuts, unit: "" });
  await stand.end({ judged: () => problems });
}

/** `deadly`: the job's number among the deadly jobs; null: the job is not deadly. */
function payment(n: string, dice: Random, deadly: number | null): JobToAdd {
  const killAt = deadly === null ? null : (PAYING_POINTS[deadly % PAYING_POINTS.length] ?? null);
  const payload: Payment = { n, killAt };
  const spec = dice(4) === 0 ? { queueName: `q${dice(3)}` } : {};
  return { identifier: "pay", payload, spec };
}

/** A job whose add was not acknowledged may have no effect, but must not have several effects. */
async function problemsOf(stand: Stand): Promise<string[]> {
  const effects = await stand.sql<{ n: string; count: number }>(
    "select n, count(*)::int as count from effects group by n",
  );
  const counts = new Map(effects.map(({ n, count }) => [n, count]));
  const added = stand.log.read().filter(({ e }) => e === "added") as { readonly n: string }[];
  const lost = added.filter(({ n }) => !counts.has(n));
  const doubled = effects.filter(({ count }) => count > 1);
  stand.figure("jobs with an effect", added.length - lost.length, { unit: "" });
  return [
    ...lost.map(({ n }) => `${n} has no effect`),
    ...doubled.map(({ n, count }) => `${n} has ${count} effects`),
  ];
}
