/** The receipt of an operation as Markdown, for a ticket or a chat. */
import { valueText } from "../../controls/value";
import { Operation } from "../../generated/records";
import { codeSpan, plain } from "../../lib/quoting";
import { isoTime } from "../../lib/time";
import { Model } from "../../model/model";
import { Outcome, outcomesOf, undoOutcomesOf } from "../../operations/outcomes";
import { lineWith, settingsOf, titleOf } from "../../operations/words";
import { reportHead } from "../../parts/report";

export function receipt(m: Model, operation: Operation): string {
  const lines: string[] = [reportHead(m, titleOf(operation), m.serverNow), ""];
  const which = operation.q.length > 0 ? codeSpan(operation.q) + ", " : "";
  lines.push(`- Jobs: ${which}ids up to ${operation.boundary.maxId}`);
  add(lines, outcomesOf(operation));
  if (operation.undone > 0) add(lines, undoOutcomesOf(operation));
  const by = operation.by;
  const author = by === null ? "" : ` by ${plain(by)}`;
  const settings = settingsOf(operation);
  const how = settings.length > 0 ? `, ${settings}` : "";
  lines.push(
    `- ${isoTime(operation.startedAt)} to ${isoTime(operation.finishedAt)}${author}${how}`,
  );
  const error = operation.error;
  if (error !== null) lines.push(`- ${plain(error)}`);
  if (operation.cli.length > 0) {
    lines.push(`- ${codeSpan(lineWith(operation.cli, m.access.session.schema, ""))}`);
  }
  return lines.join("\n");
}

function add(lines: string[], outcomes: Outcome[]): void {
  for (let i = 0; i < outcomes.length; i++) {
    const count = outcomes[i].count;
    if (count === null || (count.value === 0 && i > 0)) continue;
    const meaning = outcomes[i].meaning;
    lines.push(
      `- ${outcomes[i].label}: ${valueText(count)}${meaning.length > 0 ? `, ${meaning}` : ""}`,
    );
  }
}
