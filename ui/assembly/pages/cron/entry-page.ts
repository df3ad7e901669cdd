/** The page of one cron entry: a schedule, or an entry in the code of workers. entry-view.ts draws the page's body. */
import { DOTS, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { CronDetails, CronEntry, readCronDetails } from "../../generated/records";
import { ServerData } from "../../kit/server-data";
import { JsonReader } from "../../lib/json-reader";
import { box, Node } from "../../lib/node";
import { encode } from "../../lib/percent";
import { Model } from "../../model/model";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import {
  changeButton,
  isSchedule,
  pauseOrResume,
  removeSchedule,
  runButton,
  scheduleKeys,
} from "../../operations/scheduling";
import { NamedPage } from "../named-page";
import { about, times } from "./entry-view";

export class CronEntryPage extends NamedPage {
  private details: CronDetails = CronDetails.empty();

  constructor() {
    super("schedule", "/cron", "Cron", new ServerData("cron-entry.details"));
  }

  protected override get at(): string {
    return "api/cron-entry?name=" + encode(this.wanted);
  }

  protected override get writes(): string {
    return "/schedules";
  }

  override onAnswer(m: Model, _request: Pending, body: string): void {
    const r = new JsonReader(body);
    const details = readCronDetails(r);
    if (this.data.finish(m, r)) this.details = details;
  }

  /** The schedule with the name in the address; if there is none, the entry in code. Exists if `isShown` is true. */
  private get entry(): CronEntry {
    return this.details.entries[0];
  }

  override shortcuts(m: Model): Shortcut[] {
    return this.isShown ? scheduleKeys(m, this.entry, "This schedule") : [];
  }

  protected override remark(): string {
    const words = this.entry.inWords;
    return words === null ? "" : words;
  }

  protected override acts(m: Model): Node[] {
    const entry = this.entry;
    if (!isSchedule(entry) || !m.access.canWrite) return [];
    return [
      runButton(m, entry, ""),
      pauseOrResume(m, entry, ""),
      changeButton(m, entry, "p"),
      menu("More actions", [icon(DOTS)], [removeSchedule(m, entry, "q")]),
    ];
  }

  protected override body(m: Model): Node {
    const entry = this.entry;
    return box("div", "cols b", [times(m, entry, this.details), about(m, entry, this.details)]);
  }
}
