// kill -9 around the commit of a transactional task: each job has one effect, and each effect its job.
import type { JobToAdd } from "../../../src/domain/job-spec.ts";
import type { Random } from "../../support/random-calls.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import { EFFECTS, PAYING_POINTS, type Payment } from "../field/paying-task.ts";
import type { Stand } from "../field/stand.ts";

/** In both modes together. */
const KILLS = 1_000;
const MODES = ["safe", "fast"] as const;
/** Of each mode, in the suite and in `npm test`. */
const MEMBERS = [4, 2] as const;
const LIMIT_MINUTES = 20;
/** A short lease, so that the jobs of a killed worker run again soon. */
const RECOVERY = { heartbeatIntervalMs: 500, thresholdMs: 2_000 };

export const group: FaultGroup = {
  name: "transactional",
  title: `${KILLS} × kill -9 around the commit of a transactional task`,
  limitMinutes: LIMIT_MINUTES,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const stands = await field.stands(server, { modes: MODES, recovery: RECOVERY });
    const kills = field.times(KILLS, 20) / MODES.length;
    await field.each(stands, (stand) => paidOnce(field, stand, kills));
  },
};

async function paidOnce(field: Field, stand: Stand, kills: number): Promise<void> {
  await stand.sql(EFFECTS);
  let deadly = 0;
  const load = stand.load(20, {
    make: (n, _producer, dice) => payment(n, dice, deadly < kills && dice(3) > 0 ? deadly++ : null),
  });
  const over = Promise.withResolvers<void>();
  let [killed, isOver] = [0, false];
  const places = Array.from({ length: field.times(...MEMBERS) }, async () => {
    while (!isOver) {
      const [member] = await stand.hire();
      await Promise.race([member?.exited, over.promise]);
      if (member?.exit?.signal !== "SIGKILL") continue;
      if (++killed % 100 === 0) field.say(`${stand.mode.name}: ${killed} killed`);
    }
  });
  await stand.until("so many are added", () => deadly >= kills, LIMIT_MINUTES * 60_000);
  await load.stop();
  const left = () => stand.sql("select from worker._private_jobs limit 1");
  await stand.until(
    "all are paid",
    async () => (await left()).length === 0,
    LIMIT_MINUTES * 60_000,
  );
  isOver = true;
  over.resolve();
  await Promise.all(places);
  const problems = await problemsOf(stand);
  stand.figure("processes killed around a commit", killed, { least: kills, unit: "" });
  await stand.end({ judged: () => problems });
}

/** `deadly`: the how manyth it is of those that kill their process in the first attempt, by turns at each point. */
function payment(n: string, dice: Random, deadly: number | null): JobToAdd {
  const killAt = deadly === null ? null : (PAYING_POINTS[deadly % PAYING_POINTS.length] ?? null);
  const payload: Payment = { n, killAt };
  const spec = dice(4) === 0 ? { queueName: `q${dice(3)}` } : {};
  return { identifier: "pay", payload, spec };
}

/** An add without an answer may have been committed or not; it is not paid twice either. */
async function problemsOf(stand: Stand): Promise<string[]> {
  const effects = await stand.sql<{ n: string; count: number }>(
    "select n, count(*)::int as count from effects group by n",
  );
  const counts = new Map(effects.map(({ n, count }) => [n, count]));
  const added = stand.log.read().filter(({ e }) => e === "added") as { readonly n: string }[];
  const lost = added.filter(({ n }) => !counts.has(n));
  const doubled = effects.filter(({ count }) => count > 1);
  stand.figure("jobs with one effect each", added.length - lost.length, { unit: "" });
  return [
    ...lost.map(({ n }) => `${n} has no effect`),
    ...doubled.map(({ n, count }) => `${n} has ${count} effects`),
  ];
}
