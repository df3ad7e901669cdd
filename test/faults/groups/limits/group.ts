// Tests limits of tasks and of queues. No limit is exceeded while workers are killed and frozen and PostgreSQL crashes.
// Without faults, the workers use most of what a limit allows as long as jobs wait. A job counts from the start of its
// handler until the handler ends or its process is killed. If the worker loses its lease while the handler runs, the
// job counts only until the lease was last seen (lease-watch.ts).
import type { FaultGroup, Field } from "../../field/field.ts";
import type { Stand } from "../../field/stand.ts";
import { judgeLimits } from "./judge.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { isTenant, setLimits } from "./limits.ts";
import { underFaults } from "./under-faults.ts";
import { capacityUsed, fullAgain, queuesUsed, rateUsed } from "./use.ts";

const MEMBERS = 8;
const SLOTS = 24;

export const group: FaultGroup = {
  name: "limits",
  title: "limits of tasks and queues through kills, freezes and crashes of PostgreSQL",
  limitMinutes: 20,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const extensions = ["controls", "limits"];
    const options = { concurrency: SLOTS };
    const stands = await field.stands(server, { extensions, options });
    const watches = new Map(stands.map((stand) => [stand, new LeaseWatch(stand)]));
    field.defer(() => Promise.all([...watches.values()].map((watch) => watch.stop())));
    const watchOf = (stand: Stand) => watches.get(stand) as LeaseWatch;
    for (const stand of stands) {
      await field.each([stand], async () => {
        await setLimits(stand);
        await stand.hire(MEMBERS);
        const watch = watchOf(stand);
        await capacityUsed(field, stand, watch, "ten");
        await capacityUsed(field, stand, watch, "three");
        await rateUsed(field, stand);
        await queuesUsed(field, stand, watch);
        await fullAgain(field, stand);
        await stand.rest();
      });
      field.say(`${stand.mode.name}: the use of the limits has been measured`);
    }
    await field.each(stands, (stand) => stand.hire(MEMBERS));
    await underFaults(field, server, stands);
    await field.each(stands, async (stand) => {
      const ended = stand.end({ lenient: { leaseLost: true, isParallel: isTenant } });
      await ended.finally(() => judgeLimits(stand, watchOf(stand)));
    });
  },
};
