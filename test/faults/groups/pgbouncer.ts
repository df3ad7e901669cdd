// Tests workers behind pgbouncer in transaction mode, while pgbouncer is reloaded, paused, killed and restarted. The
// workers have the settings that docs/scale.md requires for poolers.

import { pgbouncerProgram, startPgbouncer } from "../../support/pgbouncer.ts";
import { machineTime } from "../../worker/run-log.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Stand } from "../field/stand.ts";

const BACK_MS = 1_000;
/** Notifications do not arrive through pgbouncer, so workers find new jobs by polling. */
const POLL_MS = 500;
const PER_SECOND = 20;
const CONNECTIONS = 20;

export const group: FaultGroup = {
  name: "pgbouncer",
  title: "pgbouncer in transaction mode: paused, reloaded, killed",
  limitMinutes: 8,
  needs: ["pgbouncer"],
  async run(field: Field) {
    const server = await field.server();
    const program = pgbouncerProgram();
    if (program === null) throw new Error("pgbouncer is missing");
    const bouncer = await startPgbouncer(program, server.url(), CONNECTIONS, {
      // Short, because a stand reports a problem if connections are left after its end.
      idleSeconds: 3,
    });
    field.defer(() => bouncer.stop());
    const stands = await field.stands(server, {
      options: { preparedStatements: false, notify: false, pollIntervalMs: POLL_MS },
      url: (url) => bouncer.url(new URL(url).pathname.slice(1)),
    });
    await field.each(stands, async (stand) => {
      // Without pgbouncer, because Graphile Worker needs LISTEN, which does not work through pgbouncer.
      if (stand.mode.stock) await stand.hire(1, { stock: true, url: stand.url });
      await stand.hire(2);
      stand.load(PER_SECOND);
      await stand.startAfter(machineTime());
    });
    /** `fault` resolves when pgbouncer accepts connections again. */
    const round = async (what: string, times: number, fault: () => Promise<unknown>) => {
      for (let n = 0; n < times; n++) {
        for (const { log } of stands) log.fault();
        await fault();
        const at = machineTime();
        await field.each(stands, (stand) => backAfter(stand, what, at));
        for (const { log } of stands) log.fault();
      }
      field.say(what);
    };
    const away = (ms: number) => field.outage(field.brief ? ms / 5 : ms);
    await round("RELOAD", field.times(10, 2), () => bouncer.admin("RELOAD"));
    for (const seconds of field.brief ? [3] : [3, 30]) {
      await round(`PAUSE of ${seconds} s`, field.times(3, 1), async () => {
        await bouncer.admin("PAUSE");
        await away(seconds * 1_000);
        await bouncer.admin("RESUME");
      });
    }
    for (const seconds of field.brief ? [0] : [0, 5, 30]) {
      const fault = async () => {
        await bouncer.kill();
        await away(seconds * 1_000);
        await bouncer.start();
      };
      await round(`kill -9, away for ${seconds} s`, field.times(3, 1), fault);
    }
    await field.each(stands, (stand) => stand.end());
  },
};

/** Measures the time from `at` until a worker behind pgbouncer starts a job. */
async function backAfter(stand: Stand, what: string, at: number): Promise<void> {
  const ours = new Set(stand.members.filter(({ isStock }) => !isStock).map(({ by }) => by));
  const first = () => stand.runs().find(({ by, from }) => from > at && ours.has(by));
  await stand.until(`a job starts after ${what}`, () => first() !== undefined, 60_000);
  // A Graphile worker may leave no jobs to the other workers, so the time then has no bound.
  const bound = stand.mode.stock ? {} : { most: BACK_MS };
  stand.figure(`first job after ${what}`, (first()?.from ?? at) - at, bound);
}
