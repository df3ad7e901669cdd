// Sends SIGTERM, once or twice, to workers of the library in all modes, and to `worker run`, each in several states.
import type { FaultGroup, Field } from "../../field/field.ts";
import { commandStops } from "./command-stops.ts";
import { libraryStops } from "./library-stops.ts";

export const group: FaultGroup = {
  name: "stop",
  title:
    "SIGTERM, once or twice, to workers that are idle, busy, cut off, frozen or cannot log, and to worker run",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    await libraryStops(field, server);
    await commandStops(field, server);
  },
};
