// Tests pauses, resumes and cancels while workers are killed and frozen and PostgreSQL restarts. Once a pause is
// acknowledged, no paused job starts. After a resume the jobs start soon. A cancelled job ends.
import type { FaultGroup, Field } from "../../field/field.ts";
import { measureCancels } from "./cancels.ts";
import { measureAcknowledgements, measureResumes, pausedInBursts, ready } from "./reactions.ts";
import { underFaults } from "./under-faults.ts";

const MEMBERS = 8;

export const group: FaultGroup = {
  name: "verbs",
  title: "pauses, resumes and cancels through kills, freezes and restarts of PostgreSQL",
  limitMinutes: 15,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const extensions = ["controls"];
    // With this option workers fetch many jobs ahead, so that many fetched jobs have not started when they are paused.
    const options = { localQueue: { adaptive: false } };
    const stands = await field.stands(server, { extensions, options });
    for (const stand of stands) {
      await field.each([stand], async () => {
        await stand.hire(MEMBERS);
        await ready(stand);
        await measureResumes(field, stand);
        await pausedInBursts(field, stand);
        await measureCancels(field, stand, true);
        await stand.rest();
      });
      field.say(`${stand.mode.name}: the times of a quiet fleet have been measured`);
    }
    await field.each(stands, (stand) => stand.hire(MEMBERS));
    await underFaults(field, server, stands);
    await field.each(stands, (stand) => stand.end({ lenient: { leaseLost: true } }));
    const polling = await field.stands(server, {
      ...{ name: "-polling", extensions, modes: ["safe", "fast"] },
      options: { notify: false },
    });
    for (const stand of polling) {
      await field.each([stand], async () => {
        await stand.hire(MEMBERS);
        await ready(stand);
        await measureAcknowledgements(field, stand);
        await measureCancels(field, stand, false);
        await stand.end();
      });
    }
  },
};
