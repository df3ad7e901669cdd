// Tests the admin under faults: one of two admins is killed, PostgreSQL is down, a table is locked, and clients open
// thousands of connections and send nothing. No worker runs in these tests, so they are not repeated for each mode of
// workers.
import type { FaultGroup } from "../../field/field.ts";
import { databaseAway } from "./database-away.ts";
import { idleSockets } from "./idle-sockets.ts";
import { lockedTable } from "./locked-table.ts";
import { twoAdmins } from "./two-admins.ts";

export const group: FaultGroup = {
  name: "admin",
  title: "the admin: one of two killed, PostgreSQL away, a locked table, idle sockets",
  limitMinutes: 10,
  needs: ["nginx"],
  async run(field) {
    const server = await field.server();
    for (const part of [twoAdmins, databaseAway, lockedTable, idleSockets]) {
      field.say(part.name);
      await part(field, server);
    }
  },
};
