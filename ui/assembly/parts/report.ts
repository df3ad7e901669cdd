/** The first line of each report that is copied for a chat: its title, the schema with its label, and the time. */
import { plain } from "../lib/quoting";
import { isoTime } from "../lib/time";
import { Model } from "../model/model";

export function reportHead(m: Model, title: string, at: f64): string {
  const schema = m.access.session.schema;
  const label = m.access.session.label;
  return `**${plain(title)}** (${plain(label === null ? schema : `${label}, ${schema}`)}, ${isoTime(at)})`;
}
