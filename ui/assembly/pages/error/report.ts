/** A report about one error group, in Markdown, which users copy into a chat. */
import { valueText } from "../../controls/value";
import { codeBlock, codeSpan, plain } from "../../lib/quoting";
import { isoTime } from "../../lib/time";
import { Model } from "../../model/model";
import { findingText, inWords } from "../../parts/common";
import { ErrorGroup, valueOf } from "../../parts/error-group";
import { reportHead } from "../../parts/report";
import { Details } from "./details";

const MAX_LINES: i32 = 20;

export function report(m: Model, group: ErrorGroup, details: Details): string {
  const lines: string[] = [reportHead(m, group.label, m.serverNow), ""];
  const failed = valueText(valueOf(group.failed));
  lines.push(`- Failed: ${failed}; retrying: ${valueText(valueOf(group.retrying))}`);
  lines.push(`- First ${isoTime(group.first)}, last ${isoTime(group.last)}`);
  lines.push(`- Tasks: ${plain(group.tasks.join(", "))}`);
  const queues = details.ofQueues;
  const names: string[] = [];
  for (let i = 0; i < queues.length; i++) names.push(plain(queues[i].label));
  if (names.length > 0) lines.push(`- Queues: ${names.join(", ")}`);
  const findings = details.inCommon.findings;
  for (let i = 0; i < min(findings.length, 3); i++) {
    lines.push(`- ${codeSpan(findingText(findings[i]))}${inWords(findings[i])}`);
  }
  lines.push(`- Jobs: ${codeSpan(group.query)}`);
  const error = details.job.lastError;
  if (details.example.ready && error !== null) {
    lines.push("");
    lines.push(`Job ${details.job.id}:`);
    lines.push(codeBlock(error, MAX_LINES));
  }
  return lines.join("\n");
}
