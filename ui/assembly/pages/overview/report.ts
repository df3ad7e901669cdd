/** The incident report that one pastes into a chat: Markdown, made of what stands on the page. */

import { valueText } from "../../controls/value";
import { isoTime } from "../../lib/time";
import { Model } from "../../model/model";

export function report(m: Model): string {
  const incidents = m.facts.incidents;
  const label = m.access.session.label;
  const where = label === null ? m.access.session.schema : `${label}, ${m.access.session.schema}`;
  const lines: string[] = [
    `**${plain(incidents.verdict)}** (${plain(where)}, ${isoTime(incidents.asOf)})`,
    "",
  ];
  for (let i = 0; i < incidents.incidents.length; i++) {
    const one = incidents.incidents[i];
    lines.push(`${i + 1}. **${plain(one.title)}**: ${plain(one.sentence)}`);
    const query = one.q;
    if (query !== null) lines.push(`   Jobs: \`${query.replaceAll("`", "'")}\``);
  }
  const c = m.facts.counts;
  lines.push("");
  lines.push(
    `Ready ${valueText(c.ready)}, blocked ${valueText(c.blocked)}, running ${valueText(c.running)}, retrying ${valueText(c.retrying)}, scheduled ${valueText(c.scheduled)}, failed ${valueText(c.failed)}.`,
  );
  return lines.join("\n");
}

/** Names are anybody's: what Markdown would take for its own is left as it stands. */
function plain(said: string): string {
  let out = "";
  for (let i = 0; i < said.length; i++) {
    const c = said.charAt(i);
    if ("*_`[]<>#\\".includes(c)) out += "\\";
    out += c === "\n" ? " " : c;
  }
  return out;
}
