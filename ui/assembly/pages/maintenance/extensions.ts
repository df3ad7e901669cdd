/** Our own tables beside the stock ones: what each gives, whether it is there, and adding it. */
import { badge } from "../../controls/button";
import { capital } from "../../controls/glyph";
import { panel } from "../../controls/panel";
import { cell, row, table } from "../../controls/table";
import { Database, SchemaExtension } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { leaf, Node, nothing } from "../../lib/node";
import { Model } from "../../model/model";

export function extensionsPanel(m: Model, database: Database): Node {
  const schema = database.schema;
  if (schema === null || schema.extensions.length === 0) return nothing;
  const rows: Node[] = [];
  for (let i = 0; i < schema.extensions.length; i++) {
    rows.push(extensionRow(m, schema.extensions[i]));
  }
  return panel(
    "Extensions",
    `in the schema ${schema.name}; the stock tables stay as they are`,
    [],
    [table("two extensions", "Extensions", ["=Provides", "num w6=State"], rows)],
  );
}

function extensionRow(m: Model, one: SchemaExtension): Node {
  return row(one.name, "", [
    cell("", [leaf("b", "name", capital(one.provides)), leaf("span", "sub", about(one.name))]),
    cell("num vis", [state(m, one)]),
  ]);
}

function about(name: string): string {
  if (name === "workers") return "worker heartbeats and status";
  if (name === "operations") return "undo for 24 h, up to 1 million jobs";
  return name === "controls" ? "hold back a queue, a task or all jobs" : "extension " + name;
}

function state(m: Model, one: SchemaExtension): Node {
  if (one.isForeign) return leaf("span", "faint", "there, by another program");
  const isCurrent = one.isInstalled && one.isComplete && one.version === one.supportedVersion;
  if (isCurrent) return badge(`version ${one.version}`, "green");
  if (one.version > one.supportedVersion) return badge("newer than this server", "amber");
  const chore = new Chore();
  chore.subject = one.name;
  if (!one.isInstalled) {
    chore.title = "Add " + one.provides;
    chore.sentence = `This gives ${one.provides}.`;
    return chore.ask(m, "Add…", "add-extension");
  }
  chore.title = "Update: " + one.provides;
  chore.sentence = `From version ${one.version} to ${one.supportedVersion}.`;
  return chore.ask(m, "Update…", "add-extension");
}
