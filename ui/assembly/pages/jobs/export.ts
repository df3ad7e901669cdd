/**
 * Exports, as a file, all jobs that the list's query finds. The browser sends no token when it downloads a file. So a
 * session with a token first requests a ticket: an address that works once.
 */

import { button } from "../../controls/button";
import { DOWNLOAD, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { countedValue } from "../../controls/value";
import { isLocked } from "../../generated/conditions";
import { ExportTicket, readExportTicket, Value } from "../../generated/records";
import { save } from "../../host";
import { JsonReader } from "../../lib/json-reader";
import { JsonWriter } from "../../lib/json-writer";
import { Node, nothing, text } from "../../lib/node";
import { encode } from "../../lib/percent";
import { Model } from "../../model/model";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import { Settings } from "./settings";

export const TICKET = "jobs.ticket";
const SAVED = "jobs.exported";
/** The DOM id of the element that opens the menu. */
export const MENU = "jobs-export";

/** Returns the menu of formats. `shown`: the result of shownColumns(); empty: the list shows groups of jobs. */
export function exportMenu(m: Model, shown: string): Node {
  if (!mayExport(m)) return nothing;
  const formats = formatsOf(shown);
  const entries: Node[] = [];
  for (let i = 0; i < formats.length; i++)
    entries.push(button(formats[i].words, "jobs.export", formats[i].format, "q"));
  return menu("Export", [icon(DOWNLOAD), text("Export")], entries, MENU);
}

/** Returns the shortcuts of the menu and of its entries. */
export function exportShortcuts(m: Model, shown: string): Shortcut[] {
  if (!mayExport(m)) return [];
  const list: Shortcut[] = [new Shortcut("e", "Export…", "jobs.export-menu", "", "List", DOWNLOAD)];
  const formats = formatsOf(shown);
  for (let i = 0; i < formats.length; i++) {
    const format = formats[i];
    list.push(
      new Shortcut("", "Export: " + format.words, "jobs.export", format.format, "List", DOWNLOAD),
    );
  }
  return list;
}

/** The request for a ticket counts as a write, which a read-only admin rejects. */
function mayExport(m: Model): bool {
  return !isSigned(m) || !m.access.session.readOnly;
}

class Format {
  constructor(
    /** The value of the parameter `format`, and further parameters, as in `csv&payload=1`. */
    readonly format: string,
    readonly words: string,
  ) {}
}

function formatsOf(shown: string): Format[] {
  const list = [new Format("csv", "CSV"), new Format("csv&payload=1", "CSV with payload")];
  if (shown.length > 0) {
    const named = "csv&columns=" + shown;
    list.push(new Format(named, "CSV, columns shown"));
    list.push(new Format(named + ",payload", "CSV, columns shown and payload"));
  }
  list.push(new Format("jsonl", "JSON Lines"));
  list.push(new Format("jsonl&payload=1", "JSON Lines with payload"));
  return list;
}

function isSigned(m: Model): bool {
  return m.access.token.length > 0;
}

/** Returns the columns that the list shows, by their names in an export, separated by commas. */
export function shownColumns(settings: Settings, condition: string): string {
  let names = "id,task_identifier";
  if (condition.length === 0) names += ",state";
  if (settings.has("queue")) names += ",queue_name";
  if (settings.has("priority")) names += ",priority";
  if (settings.has("key")) names += ",key";
  if (settings.has("added")) names += ",created_at";
  const time = isLocked(condition) ? "locked_at" : condition === "failed" ? "updated_at" : "run_at";
  return `${names},attempts,max_attempts,${time},last_error`;
}

export function startExport(m: Model, query: string, format: string): void {
  if (isSigned(m)) requestTicket(m, query, format);
  else save(`api/export?format=${format}&q=${encode(query)}`, SAVED);
}

function requestTicket(m: Model, query: string, format: string): void {
  const body = new JsonWriter().string("q", query);
  const parts = ("format=" + format).split("&");
  for (let i = 0; i < parts.length; i++) {
    const end = parts[i].indexOf("=");
    body.string(parts[i].substring(0, end), parts[i].substring(end + 1));
  }
  m.requests.write(m.access, new Pending(TICKET, "api/export/ticket", body.end()));
}

/** Reports that the export has started or failed. `fault`: empty if it has started. `total`: null if unknown. */
export function announceExport(m: Model, fault: string, total: Value | null): void {
  if (fault.length > 0) {
    m.notices.bad("Not exported: " + fault);
    return;
  }
  const jobs = total === null ? "" : " of " + countedValue(total, "job", "jobs");
  m.notices.good(`Export${jobs} started: a row for each job`);
}

export function takeTicket(m: Model, body: string): void {
  const r = new JsonReader(body);
  const ticket: ExportTicket = readExportTicket(r);
  r.end();
  if (r.failed) m.notices.bad(`The server's answer can't be read: ${r.error}`);
  else save(ticket.path, SAVED);
}
