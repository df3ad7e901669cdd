// Tests that only the database's clock decides when jobs start and when ticks add their jobs. For this, the clocks of
// workers and of the database are wrong or jump, PostgreSQL crashes at ticks of a timetable, and very many jobs are due
// at the same moment.
import type { FaultGroup, Field } from "../../field/field.ts";
import { burst } from "./burst.ts";
import { jumpingServer } from "./jumping-server.ts";
import { ticks } from "./ticks.ts";
import { wrongClocks } from "./wrong-clocks.ts";

export const group: FaultGroup = {
  name: "clocks",
  title: "wrong and jumping clocks, ticks through a crash, 100,000 jobs due at the same moment",
  limitMinutes: 10,
  needs: ["faketime"],
  async run(field: Field) {
    const server = await field.server();
    await burst(field, server);
    // A brief run skips the other tests: libfaketime is often missing, and ticks come only once a minute.
    if (field.brief) return;
    await wrongClocks(field, server);
    await jumpingServer(field);
    await ticks(field, server);
  },
};
