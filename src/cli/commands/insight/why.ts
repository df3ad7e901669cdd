// worker why: prints why a job is in its condition, as a chain of causes. Below a cause that suggests an action, the
// command for this action is printed.
import { WorkerError } from "../../../base/errors.ts";
import { checkedJobId } from "../../../domain/job-ids.ts";
import type { JobExplanation } from "../../../insight/why/explain-job.ts";
import { required, text } from "../../arguments/values.ts";
import { lineOfFix } from "../../operations/fix-line.ts";
import { print, printJson } from "../../output/print.ts";
import { withConnection } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import type { SameQueue } from "../../shell/same-queue.ts";

export const whyCommand = defineCommand({
  name: "why",
  describe: "Explain why a job is in its condition, and what to do",
  positionals: { id: required(text("Job id")) },
  run: async ({ id, ...args }) => {
    const { createInsight } = await import("../../../insight/insight.ts");
    const { explainJob } = await import("../../../insight/why/explain-job.ts");
    const { whyJson } = await import("../../../insight/json/why-json.ts");
    const why = await withConnection(args, ({ database }) =>
      explainJob(database, checkedJobId(id), createInsight(database)),
    );
    if (why === null) {
      throw new WorkerError("not_found", `there is no job ${id}; it may have been completed`);
    }
    if (args.json) printJson(JSON.stringify(whyJson(why)));
    else for (const line of linesOf(why, args.suggest)) print(line);
    return undefined;
  },
});

function linesOf(
  { id, condition, sentence, causes, nextAttempts, lastAttemptAt }: JobExplanation,
  suggest: SameQueue,
): string[] {
  const lines = [`job ${id} is ${condition}. ${suggest.text(sentence)}`];
  for (const { text: sentence, detail, isRoot, fix } of causes) {
    lines.push(
      `  ${isRoot ? "root" : "because"}: ${sentence}${detail === null ? "" : ` (${suggest.text(detail)})`}`,
    );
    if (fix !== null) lines.push(`    ${fix.label}: ${suggest.line(lineOfFix(fix))}`);
  }
  if (nextAttempts.length > 0) lines.push(`  next attempts: ${nextAttempts.join(", ")}`);
  if (lastAttemptAt !== null) lines.push(`  last attempt: ${lastAttemptAt}`);
  return lines;
}
