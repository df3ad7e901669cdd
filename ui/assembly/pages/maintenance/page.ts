/** The page Maintenance: the state of the database, cleanups, indexes and extensions, with the actions on them. */
import { ago } from "../../controls/age";
import { TOOL } from "../../controls/icon";
import { pageHead, panel } from "../../controls/panel";
import { Database, readDatabase } from "../../generated/records";
import { ServerData } from "../../kit/server-data";
import { JsonReader } from "../../lib/json-reader";
import { box, Node } from "../../lib/node";
import { Model, Page } from "../../model/model";
import { Pending } from "../../model/requests";
import { conditionRows, unread } from "./condition";
import { extensionRows } from "./extensions";
import { indexRows, isBuilding } from "./indexes";
import { Part, statusList } from "./status";
import { tidyRows } from "./tidy";

const PATH = "api/database";
/** The shortest interval between automatic requests while no index is being built. */
const REFRESH_MS: f64 = 10000;
/** The shortest interval between automatic requests while an index is being built. */
const BUILDING_MS: f64 = 2000;

export class MaintenancePage extends Page {
  private data: ServerData = new ServerData("maintenance.database");
  private database: Database = Database.empty();

  constructor() {
    super("maintenance", "/maintenance");
    this.label = "Maintenance";
    this.drawing = TOOL;
    this.letter = "m";
  }

  override load(m: Model): void {
    this.data.request(m, PATH);
  }

  override refresh(m: Model): void {
    if (!isBuilding(this.database)) this.data.requestEvery(m, PATH, REFRESH_MS);
    else if (this.data.isDue(m, BUILDING_MS)) this.data.request(m, PATH, true);
  }

  override reset(_m: Model): void {
    this.data.reset();
    this.database = Database.empty();
  }

  override onAnswer(m: Model, _request: Pending, body: string): void {
    const r = new JsonReader(body);
    const database = readDatabase(r);
    if (!this.data.finish(m, r)) return;
    this.database = database;
  }

  override onFailure(_m: Model, _request: Pending, status: i32, reason: string): void {
    this.data.failedWith(status, reason);
  }

  override view(m: Model): Node {
    const data = this.data;
    if (!data.ready) {
      return box("div", "maintenance", [
        pageHead("Maintenance", []),
        panel("Status", "", [], [box("div", "pb", [data.placeholder(m, 6)])]),
      ]);
    }
    const database = this.database;
    return box("div", "maintenance", [
      pageHead("Maintenance", []),
      unread(database),
      panel(
        "Status",
        `read ${ago(database.asOf, m.times)}`,
        [],
        [
          statusList([
            new Part("Database", conditionRows(m, database)),
            new Part("Clean up", tidyRows(m, database)),
            new Part("Indexes", indexRows(m, database)),
            new Part("Extensions", extensionRows(m, database)),
          ]),
        ],
      ),
    ]);
  }
}
