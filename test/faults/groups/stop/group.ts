// Sends SIGTERM, once or twice, to workers in several states: the library's workers in all modes, and `worker run`.
import type { FaultGroup, Field } from "../../field/field.ts";
import { commandStops } from "./command-stops.ts";
import { libraryStops } from "./library-stops.ts";

export const group: FaultGroup = {
  name: "stop",
  title:
    "SIGTERM to workers that are idle, busy, cut off, frozen or cannot log; two of them; worker run",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    await libraryStops(field, server);
    await commandStops(field, server);
  },
};
