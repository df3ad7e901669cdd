/**
 * Makes the rows of the page for the indexes of the table of jobs. First come Graphile Worker's indexes and external
 * indexes, for example those of an application. Then come the optional indexes, which speed up reads. A user can build
 * and drop them here.
 */
import { ago } from "../../controls/age";
import { sub } from "../../controls/table";
import { Database, DatabaseIndex, OptionalIndex } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { attr, box, el, leaf, Node, nothing, text } from "../../lib/node";
import { bytes, numberText } from "../../lib/number";
import { Model } from "../../model/model";
import { JOBS_TABLE } from "./condition";
import { broken, changing, due, fine, possible, statusRow } from "./status";

export function indexRows(m: Model, database: Database): Node[] {
  const rows: Node[] = [];
  const indexes = database.indexes;
  for (let i = 0; i < indexes.length; i++) {
    if (indexes[i].table === JOBS_TABLE && !isOptional(database, indexes[i].name)) {
      rows.push(neededRow(indexes[i]));
    }
  }
  const optional = database.optionalIndexes;
  for (let i = 0; i < optional.length; i++) rows.push(optionalRow(m, database, optional[i]));
  return rows;
}

/** Whether an index is being built, or waits to be built. */
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
  // Each index that Graphile Worker makes on this table has a name that begins with `jobs_`.
  const role = index.name.startsWith("jobs_") ? "required" : "external";
  return statusRow(
    index.name,
    index.name,
    [sub(`${role}; ${used(index.scans)}`)],
    text(bytes(index.bytes)),
    index.isValid ? fine() : broken("invalid"),
    nothing,
  );
}

function used(scans: i64): string {
  return scans === 0 ? "never used" : `used ${numberText(scans)} ×`;
}

function optionalRow(m: Model, database: Database, index: OptionalIndex): Node {
  const lines: Node[] = [sub(about(database, index))];
  if (isUnderWay(index)) lines.push(progress(m, index));
  const error = index.error;
  if (error !== null) lines.push(leaf("span", "sub bad-text", error));
  const size = index.bytes === i64.MIN_VALUE ? nothing : text(bytes(index.bytes));
  return statusRow(index.name, index.name, lines, size, status(index), act(m, index));
}

function about(database: Database, index: OptionalIndex): string {
  const words = index.isRecommended ? index.serves : index.serves + "; rarely needed";
  const indexes = database.indexes;
  for (let i = 0; i < indexes.length; i++) {
    if (index.state === "valid" && indexes[i].name === index.indexName)
      return `${words}; ${used(indexes[i].scans)}`;
  }
  const size = index.estimatedBytes;
  return size === i64.MIN_VALUE ? words : `${words}; about ${bytes(size)}`;
}

function status(index: OptionalIndex): Node {
  if (index.state === "valid") return index.isOurs ? fine() : possible("external");
  if (index.state === "broken") return due("failed");
  return isUnderWay(index) ? changing(index.state) : possible("not built");
}

function act(m: Model, index: OptionalIndex): Node {
  if (index.state === "valid") return index.isOurs ? drop(m, index) : nothing;
  return isUnderWay(index) ? cancel(m, index) : build(m, index);
}

/** Returns the progress of a build. The phase is named as in PostgreSQL's manual. */
function progress(m: Model, index: OptionalIndex): Node {
  const now = index.progress;
  if (now === null) return sub("waiting");
  const since = `begun ${ago(now.since, m.times)}`;
  if (isNaN(now.share)) return sub(`${now.phase}, ${since}`);
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
    sub(`${now.phase}, ${percent} %, ${since}`),
  ]);
}

function build(m: Model, index: OptionalIndex): Node {
  const size =
    index.estimatedBytes === i64.MIN_VALUE ? "" : `About ${bytes(index.estimatedBytes)}. `;
  const what = `Speeds up: ${index.serves}. ${size}It costs the workers ${index.costs}.`;
  return chore(index, "Build the index " + index.name, what).button(m, "Build…", "build-index");
}

function cancel(m: Model, index: OptionalIndex): Node {
  return chore(index, "Cancel the build of " + index.name, "").button(m, "Cancel…", "cancel-index");
}

function drop(m: Model, index: OptionalIndex): Node {
  const what = `It speeds up: ${index.serves}.`;
  const made = chore(index, "Drop the index " + index.name, what);
  return made.inMenu(m, "Drop…", "drop-index");
}

function chore(index: OptionalIndex, title: string, sentence: string): Chore {
  const made = new Chore();
  made.subject = index.name;
  made.title = title;
  made.sentence = sentence;
  return made;
}
