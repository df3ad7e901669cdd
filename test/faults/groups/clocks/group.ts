// Time: only the database's decides. Clocks of machines that are wrong or jump, ticks through a crash, and
// a second in which very much is due.
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
    // libfaketime is not everywhere, and a tick is a minute: too long for npm test.
    if (field.brief) return;
    await wrongClocks(field, server);
    await jumpingServer(field);
    await ticks(field, server);
  },
};
