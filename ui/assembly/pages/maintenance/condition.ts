/** Rows with the state of the database, for finding the cause of a problem. Only the row of the schema has a button. */
import { ageText, ago, durationText } from "../../controls/age";
import { sub } from "../../controls/table";
import { valueText } from "../../controls/value";
import { Database, DatabaseTable } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { bytes, countText, numberText, partText } from "../../lib/number";
import { Model } from "../../model/model";
import { broken, changing, due, fine, possible, statusRow } from "./status";

/** Dead rows are shown as a problem if there are at least DEAD_ROWS, and they are at least DEAD_PERCENT of all rows. */
const DEAD_ROWS: i64 = 10000;
const DEAD_PERCENT: i64 = 30;
/** A transaction that may keep vacuum from removing dead rows is shown as a problem from this age on. */
const OLD_MS: f64 = 300000;
const MAX_GROUPS = 3;

export const JOBS_TABLE: string = "_private_jobs";

export function conditionRows(m: Model, database: Database): Node[] {
  return [
    schema(m, database),
    server(database),
    jobs(m, database),
    deadRows(m, database),
    transaction(database),
    oldestXmin(m, database),
    connections(database),
  ];
}

function schema(m: Model, database: Database): Node {
  const schema = database.schema;
  if (schema === null) return nothing;
  const problem = schema.problem;
  const lines: Node[] = [];
  const rest = migrationRest(database);
  const isReady = schema.state === "ready";
  if (isReady) {
    const origin =
      schema.origin === "ours"
        ? ""
        : schema.origin === "graphile"
          ? "Graphile Worker's, "
          : "made by its Rust port, ";
    const state = rest.length === 0 ? "nothing to migrate" : rest;
    const level = `level ${schema.level} of ${schema.supportedLevel}`;
    lines.push(sub(`“${schema.name}”: ${origin}${level}, ${state}`));
  } else {
    lines.push(sub(schema.name));
    if (problem !== null) lines.push(leaf("span", "sub bad-text", problem));
  }
  for (let i = 0; i < schema.warnings.length; i++) {
    lines.push(leaf("span", "sub warn-text", schema.warnings[i]));
  }
  const isAbsent = schema.state === "absent";
  const status = !isReady
    ? broken(isAbsent ? "missing" : "unusable")
    : schema.warnings.length > 0
      ? due("has warnings")
      : rest.length > 0
        ? possible("can migrate")
        : fine();
  const act = isReady && rest.length > 0 ? migration(m, database) : nothing;
  return statusRow("schema", "Schema", lines, nothing, status, act);
}

/** Returns a short note if the schema can be migrated; otherwise an empty text. */
function migrationRest(database: Database): string {
  const schema = database.schema;
  if (schema === null) return "";
  if (schema.origin === "graphile") return "unchanged until you migrate";
  const list = schema.extensions;
  for (let i = 0; i < list.length; i++) {
    const extension = list[i];
    const isWanted = extension.isAutomatic || extension.isInstalled;
    if (
      isWanted &&
      !extension.isForeign &&
      (!extension.isComplete || extension.version < extension.supportedVersion)
    ) {
      return "an extension needs an update";
    }
  }
  return "";
}

function migration(m: Model, database: Database): Node {
  const chore = new Chore();
  chore.title = "Migrate the schema";
  const schema = database.schema;
  if (schema !== null && schema.origin === "graphile") {
    chore.sentence = "Adds heartbeats beside Graphile Worker's tables; its workers keep running.";
  }
  return chore.button(m, "Migrate…", "migrate");
}

function server(database: Database): Node {
  const server = database.server;
  if (server === null) return nothing;
  const words = `${server.version}, database ${server.database}, role ${server.role}`;
  const status = server.isStandby
    ? changing("standby")
    : server.isReadOnly
      ? due("read-only")
      : fine();
  return statusRow("server", "PostgreSQL", [sub(words)], nothing, status, nothing);
}

function jobsTable(database: Database): DatabaseTable | null {
  for (let i = 0; i < database.tables.length; i++) {
    if (database.tables[i].name === JOBS_TABLE) return database.tables[i];
  }
  return null;
}

function jobs(m: Model, database: Database): Node {
  const table = jobsTable(database);
  if (table === null) return nothing;
  const rows = m.facts.has("counts")
    ? valueText(m.facts.counts.total)
    : `≈ ${numberText(table.liveRows)}`;
  let all: i64 = 0;
  for (let i = 0; i < database.tables.length; i++) all += database.tables[i].totalBytes;
  const size = `${rows} rows; indexes ${bytes(table.indexBytes)}`;
  const tables = `all tables ${bytes(all)}`;
  return statusRow(
    "jobs",
    "Jobs table",
    [sub(`${size}; ${tables}`)],
    text(bytes(table.totalBytes)),
    fine(),
    nothing,
  );
}

function deadRows(m: Model, database: Database): Node {
  const table = jobsTable(database);
  if (table === null) return nothing;
  const dead = table.deadRows;
  const percent = (dead * 100) / max<i64>(dead + table.liveRows, 1);
  const vacuumed = isNaN(table.lastVacuumAt)
    ? "never vacuumed"
    : `vacuumed ${ago(table.lastVacuumAt, m.times)}`;
  const isMany = dead >= DEAD_ROWS && percent >= DEAD_PERCENT;
  return statusRow(
    "dead",
    "Dead rows",
    [sub(`${percent} % of the jobs table, ${vacuumed}`)],
    text(dead > 0 ? `≈ ${numberText(dead)}` : "none"),
    isMany ? due("needs vacuum") : fine(),
    nothing,
  );
}

function transaction(database: Database): Node {
  const old = database.oldestTransaction;
  const name = "Oldest transaction";
  if (old === null) return statusRow("old", name, [sub("none")], nothing, fine(), nothing);
  const state = old.state;
  const origin = `${state === null ? "" : state + ", "}${named(old.application)}, process ${old.pid}`;
  // The age when the transaction was read. The shown age does not grow, because the transaction may have ended since.
  const age = max<f64>(0, database.asOf - old.since);
  const isOld = age >= OLD_MS;
  return statusRow(
    "old",
    name,
    [sub(`open for ${ageText(age)}: ${origin}`)],
    nothing,
    isOld ? due("holds back vacuum") : fine(),
    nothing,
  );
}

function oldestXmin(m: Model, database: Database): Node {
  const oldest = database.oldestXmin;
  if (oldest === null || oldest.transactions === 0) return nothing;
  const kind =
    oldest.kind === "slot"
      ? "the replication slot "
      : oldest.kind === "prepared"
        ? "the prepared transaction "
        : "";
  const since = isNaN(oldest.since) ? "" : ` ${durationText(oldest.since, m.times)}`;
  const isOld = !isNaN(oldest.since) && m.serverNow - oldest.since >= OLD_MS;
  return statusRow(
    "xmin",
    "Vacuum waits for",
    [sub(`${kind}${named(oldest.name)}${since}`)],
    text(countText(oldest.transactions, "transaction", "transactions")),
    isOld ? due("holds back vacuum") : fine(),
    nothing,
  );
}

function named(name: string): string {
  return name.length > 0 ? `“${name}”` : "unnamed";
}

function connections(database: Database): Node {
  const all = database.connections;
  if (all === null) return nothing;
  const parts: string[] = [];
  for (let i = 0; i < min(all.groups.length, MAX_GROUPS); i++) {
    const group = all.groups[i];
    const state = group.state;
    parts.push(
      `${numberText(group.count)} ${named(group.application)}${state === null ? "" : " " + state}`,
    );
  }
  if (all.groups.length > MAX_GROUPS) parts.push("and others");
  const isFull = all.total * 10 >= all.limit * 9;
  return statusRow(
    "connections",
    "Connections",
    [sub(parts.join(", "))],
    text(partText(all.total, all.limit)),
    isFull ? due("nearly full") : fine(),
    nothing,
  );
}

/** Returns a note with the reasons why parts of the state could not be read; nothing if all parts could be read. */
export function unread(database: Database): Node {
  const missing = database.missing;
  if (missing.length === 0) return nothing;
  const items: Node[] = [leaf("b", "", "Some values could not be read.")];
  for (let i = 0; i < missing.length; i++) items.push(leaf("p", "", missing[i]));
  return box("div", "note warn unread", [box("div", "", items)]);
}
