// All groups of faults, in the order in which `npm run test:faults` runs them.
import type { FaultGroup } from "../field/field.ts";
import { group as adds } from "./adds/group.ts";
import { group as admin } from "./admin/group.ts";
import { group as clocks } from "./clocks/group.ts";
import { group as disk } from "./disk.ts";
import { group as endurance } from "./endurance/group.ts";
import { group as failover } from "./failover/group.ts";
import { group as fleet } from "./fleet.ts";
import { group as frozen } from "./frozen.ts";
import { group as fuzz } from "./fuzz/group.ts";
import { group as kill } from "./kill.ts";
import { group as limits } from "./limits/group.ts";
import { group as longJobs } from "./long-jobs.ts";
import { group as migrators } from "./migrators.ts";
import { group as model } from "./model.ts";
import { group as network } from "./network/group.ts";
import { group as outage } from "./outage/group.ts";
import { group as pgbouncer } from "./pgbouncer.ts";
import { group as poison } from "./poison.ts";
import { group as scaleOut } from "./scale-out/group.ts";
import { group as stop } from "./stop/group.ts";
import { group as transactional } from "./transactional.ts";
import { group as verbs } from "./verbs/group.ts";
import { group as weight } from "./weight/group.ts";

export const groups: readonly FaultGroup[] = [
  kill,
  fleet,
  frozen,
  poison,
  transactional,
  verbs,
  limits,
  stop,
  outage,
  disk,
  failover,
  network,
  adds,
  pgbouncer,
  weight,
  admin,
  fuzz,
  scaleOut,
  clocks,
  longJobs,
  migrators,
  model,
  endurance,
];
