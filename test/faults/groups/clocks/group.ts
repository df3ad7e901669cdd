// Only the database's time counts. Machines have wrong or jumping clocks, crashes happen at ticks of a timetable, and
// very many jobs are due in one second.
import type { FaultGroup, Field } from "../../field/field.ts";
import { burst } from "./burst.ts";
import { jumpingServer } from "./jumping-server.ts";
import { ticks } from "./ticks.ts";
import { wrongClocks } from "./wrong-clocks.ts";

export const group: FaultGroup = {
  name: "clocks",
  title: "wrong and jumping clocks, ticks through a crash, 100,000 jobs due in one second",
  limitMinutes: 10,
  needs: ["faketime"],
  async run(field: Field) {
    const server = await field.server();
    await burst(field, server);
    // Not in npm test: libfaketime is often missing, and a tick takes a minute.
    if (field.brief) return;
    await wrongClocks(field, server);
    await jumpingServer(field);
    await ticks(field, server);
  },
};
