// Heavy loads: a table full of dead rows, payloads of 50 MB, handlers that never end, block or throw anything.
import type { FaultGroup, Field } from "../../field/field.ts";
import { deadRows } from "./dead-rows.ts";
import { handlers } from "./handlers.ts";
import { payloads } from "./payloads.ts";

export const group: FaultGroup = {
  name: "weight",
  title: "dead rows, large payloads, handlers that never end, block or throw anything",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    await handlers(field);
    if (field.brief) return;
    await payloads(field);
    await deadRows(field);
  },
};
