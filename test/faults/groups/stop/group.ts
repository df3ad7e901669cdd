// One SIGTERM in every state that a worker can be in, and two; through the library in every mode, and
// through `worker run`.
import type { FaultGroup, Field } from "../../field/field.ts";
import { commandStops } from "./command-stops.ts";
import { libraryStops } from "./library-stops.ts";

export const group: FaultGroup = {
  name: "stop",
  title: "SIGTERM while idle, busy, cut off, frozen, with nowhere to log; twice; and worker run",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    await libraryStops(field, server);
    await commandStops(field, server);
  },
};
