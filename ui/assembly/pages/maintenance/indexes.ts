/** The indexes of the jobs' table: those that the queue needs, and those that make some reads fast. */
import { ago } from "../../controls/age";
import { badge } from "../../controls/button";
import { panel } from "../../controls/panel";
import { cell, row, table } from "../../controls/table";
import { Database, DatabaseIndex, OptionalIndex } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { attr, box, el, leaf, Node, nothing, text } from "../../lib/node";
import { bytes, grouped } from "../../lib/number";
import { Model } from "../../model/model";
import { JOBS_TABLE } from "./condition";

const COLUMNS: string[] = ["=Index", "num w4=Size", "num w3 w-mid=Used", "num w5=State"];

export function indexesPanel(m: Model, database: Database): Node {
  const rows: Node[] = [];
  const indexes = database.indexes;
  for (let i = 0; i < indexes.length; i++) {
    if (indexes[i].table === JOBS_TABLE && !isOptional(database, indexes[i].name)) {
      rows.push(neededRow(indexes[i]));
    }
  }
  const optional = database.optionalIndexes;
  for (let i = 0; i < optional.length; i++) rows.push(optionalRow(m, database, optional[i]));
  if (rows.length === 0) return nothing;
  return panel(
    "Indexes",
    "optional indexes help above 1 million jobs",
    [],
    [table("two indexes", "Indexes", COLUMNS, rows)],
  );
}

/** Whether one is being built, or is to be. */
export function isBuilding(database: Database): bool {
  const optional = database.optionalIndexes;
  for (let i = 0; i < optional.length; i++) {
    if (isUnderWay(optional[i])) return true;
  }
  return false;
}

function isUnderWay(index: OptionalIndex): bool {
  return index.state === "building" || index.state === "waiting";
}

function isOptional(database: Database, name: string): bool {
  const optional = database.optionalIndexes;
  for (let i = 0; i < optional.length; i++) if (optional[i].indexName === name) return true;
  return false;
}

function neededRow(index: DatabaseIndex): Node {
  // The queue's own ones have had these names since Graphile Worker's first version.
  const isNeeded = index.name.startsWith("jobs_");
  return row(index.name, "low", [
    cell("", [leaf("code", "", index.name)]),
    cell("num dim", [text(bytes(index.bytes))]),
    cell("num dim w-mid", [times(index.scans)]),
    cell("num", [
      index.isValid
        ? leaf("span", "faint", isNeeded ? "required" : "external")
        : badge("invalid", "red"),
    ]),
  ]);
}

function times(scans: i64): Node {
  return scans === 0 ? leaf("span", "faint", "never") : text(grouped(scans) + " ×");
}

function optionalRow(m: Model, database: Database, index: OptionalIndex): Node {
  const about = index.isRecommended ? index.serves : index.serves + "; rarely needed";
  const error = index.error;
  const built = index.bytes !== i64.MIN_VALUE;
  const estimated = index.estimatedBytes;
  const size = built
    ? bytes(index.bytes)
    : estimated === i64.MIN_VALUE
      ? ""
      : "≈ " + bytes(estimated);
  return row(index.name, "", [
    cell("", [
      leaf("b", "name", index.name),
      index.state === "broken" ? badge("failed", "amber") : nothing,
      leaf("span", "sub", about),
      isUnderWay(index) ? progress(m, index) : nothing,
      error === null ? nothing : leaf("span", "sub bad-text", error),
    ]),
    cell(built ? "num dim" : "num faint", [text(size)]),
    cell("num dim w-mid", [used(database, index)]),
    cell("num vis", [state(m, index)]),
  ]);
}

function used(database: Database, index: OptionalIndex): Node {
  const indexes = database.indexes;
  for (let i = 0; i < indexes.length; i++) {
    if (index.state === "valid" && indexes[i].name === index.indexName)
      return times(indexes[i].scans);
  }
  return nothing;
}

function state(m: Model, index: OptionalIndex): Node {
  if (index.state === "valid") {
    return index.isOurs ? drop(m, index) : leaf("span", "faint", "external");
  }
  return isUnderWay(index) ? cancel(m, index) : build(m, index);
}

/** In PostgreSQL's own words: the phases of a build are those of its manual. */
function progress(m: Model, index: OptionalIndex): Node {
  const now = index.progress;
  if (now === null) return leaf("span", "sub", "waiting");
  const since = `begun ${ago(now.since, m.times)}`;
  if (isNaN(now.share)) return leaf("span", "sub", `${now.phase}, ${since}`);
  const percent = <i32>(now.share * 100);
  return box("span", "share", [
    el(
      "progress",
      [
        attr("max", "100"),
        attr("value", percent.toString()),
        attr("aria-label", `Building ${index.name}: ${now.phase}`),
      ],
      [],
    ),
    leaf("span", "sub", `${now.phase}, ${percent} %, ${since}`),
  ]);
}

function build(m: Model, index: OptionalIndex): Node {
  const size =
    index.estimatedBytes === i64.MIN_VALUE ? "" : `About ${bytes(index.estimatedBytes)}. `;
  const what = `Makes fast: ${index.serves}. ${size}It costs the workers ${index.costs}.`;
  return chore(index, "Build the index " + index.name, what).ask(m, "Build…", "build-index");
}

function cancel(m: Model, index: OptionalIndex): Node {
  return chore(index, "Cancel the build of " + index.name, "").ask(m, "Cancel…", "cancel-index");
}

function drop(m: Model, index: OptionalIndex): Node {
  const what = `It makes fast: ${index.serves}.`;
  const made = chore(index, "Drop the index " + index.name, what);
  return box("span", "act-row", [
    leaf("span", "faint", "there"),
    made.inMenu(m, "Drop…", "drop-index"),
  ]);
}

function chore(index: OptionalIndex, title: string, sentence: string): Chore {
  const made = new Chore();
  made.subject = index.name;
  made.title = title;
  made.sentence = sentence;
  return made;
}
