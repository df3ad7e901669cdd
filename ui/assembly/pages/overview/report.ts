/** The incident report for a chat: Markdown with the verdict, the incidents, and the numbers of jobs by condition. */

import { capital } from "../../controls/glyph";
import { valueText } from "../../controls/value";
import { CONDITIONS, countOf } from "../../generated/conditions";
import { codeSpan, plain } from "../../lib/quoting";
import { Model } from "../../model/model";
import { reportHead } from "../../parts/report";

export function report(m: Model): string {
  const incidents = m.facts.incidents;
  const lines: string[] = [reportHead(m, incidents.verdict, incidents.asOf), ""];
  for (let i = 0; i < incidents.incidents.length; i++) {
    const incident = incidents.incidents[i];
    lines.push(`${i + 1}. **${plain(incident.title)}**: ${plain(incident.sentence)}`);
    const query = incident.q;
    if (query !== null) lines.push("   Jobs: " + codeSpan(query));
  }
  lines.push("");
  const counts: string[] = [];
  for (let i = 0; i < CONDITIONS.length; i++) {
    counts.push(CONDITIONS[i] + " " + valueText(countOf(m.facts.counts, CONDITIONS[i])));
  }
  lines.push(capital(counts.join(", ")) + ".");
  return lines.join("\n");
}
