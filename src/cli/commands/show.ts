// worker show: prints one job with its payload and last error, or with --payload only the payload.
import { WorkerError } from "../../base/errors.ts";
import { type Job, listedJobJson } from "../../domain/job.ts";
import { checkedJobId } from "../../domain/job-ids.ts";
import { isCancelled } from "../../domain/words.ts";
import { flag, required, text } from "../arguments/values.ts";
import { exportOutput } from "../output/export-output.ts";
import { print, printJson, printLines, time } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

export const showCommand = defineCommand({
  name: "show",
  describe: "Show one job",
  positionals: { id: required(text("Job id")) },
  options: { payload: flag("Print only the job's payload, byte for byte, even if it is large") },
  run: async ({ id, payload, ...args }) => {
    const { jobSize, payloadPieces } = await import("../../insight/pages/job-size.ts");
    const { readLightRows } = await import("../../insight/pages/light-rows.ts");
    const { getJob } = await import("../../insight/pages/get-job.ts");
    await withConnection(args, async ({ database }) => {
      if (payload) {
        const pieces = await payloadPieces(database, checkedJobId(id));
        if (pieces === null) throw notThere(id);
        await using out = await exportOutput("-");
        for await (const piece of pieces.pieces())
          await out.write(piece, new AbortController().signal);
        return;
      }
      const size = await jobSize(database, checkedJobId(id));
      if (size?.isWhole === false) throw tooLarge(id);
      const job = size === null ? null : await getJob(database, id);
      if (job === null) throw notThere(id);
      if (args.json) printJson(listedJobJson(job));
      else {
        const [listed] = await readLightRows(database, [id]);
        printJob(job, listed?.condition ?? job.state, listed?.cancelling ?? null);
      }
    });
    return undefined;
  },
});

const notThere = (id: string) => new WorkerError("not_found", `there is no job ${id}`);

function tooLarge(id: string): WorkerError {
  const message = `job ${id} is larger than 16 MB; "worker show ${id} --payload" writes its payload, "worker list ${id}" shows the rest`;
  return new WorkerError("too_large", message);
}

function printJob(job: Job, condition: string, cancelling: string | null): void {
  print(`job ${job.id}  ${job.taskIdentifier ?? "-"}  ${condition}`);
  print(`queue ${job.queueName ?? "-"}  key ${job.key ?? "-"}  priority ${job.priority}`);
  // A cancel of a waiting job sets `attempts` to the maximum, so `attempts` of a cancelled job may be wrong.
  const isOver = condition === "failed" && isCancelled(job.lastError ?? "");
  const attempts = isOver ? "" : `attempts ${job.attempts} of ${job.maxAttempts}  `;
  print(`${attempts}run at ${time(job.runAt)}`);
  print(`created ${time(job.createdAt)}  updated ${time(job.updatedAt)}`);
  if (job.lockedAt !== null) print(`locked ${time(job.lockedAt)} by ${job.lockedBy ?? "-"}`);
  if (cancelling !== null) print(cancelling);
  if (job.flagsText !== null) print(`flags ${job.flagsText}`);
  print(`payload ${job.payloadText}`);
  if (job.lastError === null) return;
  print("last error:");
  printLines(job.lastError);
}
