// Tasks and queues are paused and resumed, and jobs are cancelled, while workers are killed, replaced and frozen, and
// PostgreSQL crashes and is restarted.
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { crashes, freezes, kills } from "../../field/turmoil.ts";
import { cancels, judgeCancels } from "./cancels.ts";
import { judgePauses, pauses, queuesOf, tasksOf } from "./pauses.ts";

const DURATION_MS = 150_000;
const RESTARTS = 5;

export async function underFaults(
  field: Field,
  server: Server,
  stands: readonly Stand[],
): Promise<void> {
  const over = machineTime() + field.times(DURATION_MS, 10_000);
  const count = field.times(RESTARTS, 1);
  const crashing = crashes(field, server, stands, { count, over });
  await field.each(stands, async (stand) => {
    stand.load(20);
    const [ofTasks, ofQueues, cancelled] = await Promise.all([
      pauses(stand, over, tasksOf(stand)),
      pauses(stand, over, queuesOf(stand)),
      cancels(stand, over),
      kills(stand, over),
      freezes(stand, over),
    ]);
    judgePauses(stand, [...ofTasks, ...ofQueues]);
    judgeCancels(stand, cancelled);
  });
  await crashing;
}
