/** The extensions: what each provides, its state, and the button that adds or updates it. */
import { capital } from "../../controls/glyph";
import { sub } from "../../controls/table";
import { Database, SchemaExtension } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { Node, nothing, text } from "../../lib/node";
import { Model } from "../../model/model";
import { due, fine, possible, statusRow } from "./status";

export function extensionRows(m: Model, database: Database): Node[] {
  const rows: Node[] = [];
  const schema = database.schema;
  if (schema === null) return rows;
  for (let i = 0; i < schema.extensions.length; i++) {
    rows.push(extensionRow(m, schema.extensions[i]));
  }
  return rows;
}

function extensionRow(m: Model, one: SchemaExtension): Node {
  const version = one.isInstalled ? text(`version ${one.version}`) : nothing;
  const lines = [sub(about(one.name))];
  return statusRow(one.name, capital(one.provides), lines, version, status(one), act(m, one));
}

function about(name: string): string {
  if (name === "workers") return "worker heartbeats and status";
  if (name === "operations") return "undo for 24 h, up to 1 million jobs";
  return name === "controls" ? "pause a queue, a task or all jobs" : "extension " + name;
}

function isCurrent(one: SchemaExtension): bool {
  return one.isInstalled && one.isComplete && one.version === one.supportedVersion;
}

function status(one: SchemaExtension): Node {
  if (one.isForeign) return possible("external");
  if (isCurrent(one)) return fine();
  if (one.version > one.supportedVersion) return due("newer than this server");
  return one.isInstalled ? due("needs an update") : possible("not added");
}

function act(m: Model, one: SchemaExtension): Node {
  if (one.isForeign || isCurrent(one) || one.version > one.supportedVersion) return nothing;
  const chore = new Chore();
  chore.subject = one.name;
  if (!one.isInstalled) {
    chore.title = "Add " + one.provides;
    chore.sentence = `It provides ${one.provides}.`;
    return chore.button(m, "Add…", "add-extension");
  }
  chore.title = "Update: " + one.provides;
  chore.sentence =
    one.version === one.supportedVersion
      ? "Its missing parts are added."
      : `From version ${one.version} to ${one.supportedVersion}.`;
  return chore.button(m, "Update…", "add-extension");
}
