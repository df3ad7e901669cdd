// All groups, in the order in which they run.
import type { FaultGroup } from "../field/field.ts";
import { group as adds } from "./adds/group.ts";
import { group as kill } from "./kill.ts";
import { group as outage } from "./outage/group.ts";

export const groups: readonly FaultGroup[] = [kill, outage, adds];
