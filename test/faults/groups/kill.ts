// kill -9 under load, with survivors: what the dead held is freed in time and runs elsewhere.

import { freedAfter } from "../../worker/runs.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Stand } from "../field/stand.ts";

const KILLS = 50;
const FREED_MS = 10_000;
const FREED_FAST_MS = 5_000;

export const group: FaultGroup = {
  name: "kill",
  title: "kill -9 under load, with survivors",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const stands = await field.stands(server);
    await field.each(stands, async (stand) => {
      await stand.hire(2);
      stand.load(50);
      for (let n = 0; n < field.times(KILLS, 3); n++) {
        await killOne(stand);
        if (n % 10 === 9) field.say(`${stand.mode.name}: ${n + 1} killed`);
      }
      await stand.end();
      measure(stand);
    });
  },
};

async function killOne(stand: Stand): Promise<void> {
  const [victim] = await stand.hire();
  if (victim === undefined) return;
  await stand.until("it runs jobs", () => stand.runs(victim.by).length > 20);
  await stand.kill(victim);
}

function measure(stand: Stand): void {
  const most = stand.mode.fastLane === false ? FREED_MS : FREED_FAST_MS;
  for (const { ms } of freedAfter(stand.runs())) stand.figure("freed after kill -9", ms, { most });
}
