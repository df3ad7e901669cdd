/** The incident report that one pastes into a chat: Markdown, made of what stands on the page. */

import { valueText } from "../../controls/value";
import { codeSpan, plain } from "../../lib/quoting";
import { Model } from "../../model/model";
import { reportHead } from "../../parts/report";

export function report(m: Model): string {
  const incidents = m.facts.incidents;
  const lines: string[] = [reportHead(m, incidents.verdict, incidents.asOf), ""];
  for (let i = 0; i < incidents.incidents.length; i++) {
    const one = incidents.incidents[i];
    lines.push(`${i + 1}. **${plain(one.title)}**: ${plain(one.sentence)}`);
    const query = one.q;
    if (query !== null) lines.push("   Jobs: " + codeSpan(query));
  }
  const c = m.facts.counts;
  lines.push("");
  lines.push(
    `Ready ${valueText(c.ready)}, blocked ${valueText(c.blocked)}, fetched ${valueText(c.fetched)}, running ${valueText(c.running)}, retrying ${valueText(c.retrying)}, scheduled ${valueText(c.scheduled)}, failed ${valueText(c.failed)}.`,
  );
  return lines.join("\n");
}
