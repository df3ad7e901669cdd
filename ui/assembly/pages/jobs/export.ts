/**
 * All that the query finds as a file. Where the browser itself has the login, an address does; who signs
 * in with a token is given one that works once.
 */
import { button } from "../../controls/button";
import { DOWNLOAD, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { ExportTicket, readExportTicket } from "../../generated/records";
import { save } from "../../host";
import { JsonReader } from "../../lib/json-reader";
import { JsonWriter } from "../../lib/json-writer";
import { attr, cls, el, Node, nothing, text } from "../../lib/node";
import { encode } from "../../lib/percent";
import { Model } from "../../model/model";
import { Pending } from "../../model/requests";

export const TICKET = "jobs.ticket";

/** Behind a format. */
const PAYLOAD: string = "&payload=1";

export function exportMenu(m: Model, query: string): Node {
  const isSigned = m.access.token.length > 0;
  // A ticket is a write to the server, though not to the jobs.
  if (isSigned && m.access.session.readOnly) return nothing;
  return menu(
    "Export",
    [icon(DOWNLOAD), text("Export")],
    [
      entry(isSigned, query, "csv", "CSV"),
      entry(isSigned, query, "csv" + PAYLOAD, "CSV with payload"),
      entry(isSigned, query, "jsonl", "JSON Lines"),
      entry(isSigned, query, "jsonl" + PAYLOAD, "JSON Lines with payload"),
    ],
  );
}

function entry(isSigned: bool, query: string, format: string, words: string): Node {
  if (isSigned) return button(words, "jobs.export", format, "q");
  const path = `api/export?format=${format}&q=${encode(query)}`;
  return el("a", [attr("href", path), attr("download", ""), cls("btn q")], [text(words)]);
}

export function askTicket(m: Model, query: string, format: string): void {
  const body = new JsonWriter().string("q", query);
  body.string("format", format.replace(PAYLOAD, ""));
  if (format.endsWith(PAYLOAD)) body.string("payload", "1");
  m.requests.write(m.access, new Pending(TICKET, "api/export/ticket", body.end()));
}

export function takeTicket(m: Model, body: string): void {
  const r = new JsonReader(body);
  const ticket: ExportTicket = readExportTicket(r);
  r.end();
  if (r.failed) m.notices.bad(`The server's answer can't be read: ${r.error}`);
  else save(ticket.path);
}
