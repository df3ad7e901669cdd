// Runs a process that starts and stops workers one after another (cycles-child.ts). Checks by how much the memory, the
// handles and the threads of this process grow between its warm-up and its end, and that no worker has left a heartbeat
// row.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { processEvents } from "../../../support/event-process.ts";
import type { Field } from "../../field/field.ts";
import type { Stand } from "../../field/stand.ts";
import { checkGrowth, ROOM, sampleOf } from "./sample.ts";

const main = fileURLToPath(new URL("./cycles-child.ts", import.meta.url));
const register = fileURLToPath(new URL("../../../support/register.mjs", import.meta.url));

export async function cycles(field: Field, stand: Stand, count: number, warmUp: number) {
  const { fastLane } = stand.mode;
  const options = { url: stand.url, fastLane, count, warmUp };
  const args = [ROOM, "--expose-gc", "--import", register, main, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  field.defer(() => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const reports = processEvents(child);
  const sample = async (event: string) => {
    while (reports.events.every((one) => one.event !== event) && child.exitCode === null) {
      await Promise.race([reports.event(event).catch(() => {}), exited]);
    }
    const one = await sampleOf(child.pid ?? 0);
    child.stdin.write("go on\n");
    return one;
  };
  checkGrowth(stand, "200 starts and stops", await sample("warm"), await sample("done"));
  await exited;
  const rows = await stand.sql("select id from worker._private_workers");
  if (rows.length > 0)
    stand.problem(`${rows.length} heartbeat rows are left after starts and stops`);
}
