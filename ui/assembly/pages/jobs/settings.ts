/**
 * The settings of the list of jobs: which optional columns are shown, and whether the rows are compact. The browser
 * stores the settings.
 */

import { menu } from "../../controls/menu";
import { Draft } from "../../forms/draft";
import { checkbox } from "../../forms/field";
import { prefer, preferred } from "../../host";
import { Node, text } from "../../lib/node";

const KEY = "worker.jobs";
/** The prefix of the checkboxes' names. Without it, the checkbox `key` and a dialog's field `key` would share an id. */
const PREFIX = "column-";
/** The optional columns, as `name=Label`. The first is shown by default. */
const COLUMNS: string[] = ["queue=Queue", "priority=Priority", "key=Key", "added=Added"];

export class Settings {
  private on: string[] = [];
  private isRead: bool = false;

  has(name: string): bool {
    if (!this.isRead) {
      this.isRead = true;
      const kept = preferred(KEY);
      this.on = kept.length > 0 ? kept.split(" ") : ["queue"];
    }
    return this.on.includes(name);
  }

  /**
   * Changes a setting. `box`: the name of the setting's checkbox. The stored text always begins with `-`, because an
   * empty text would mean the defaults.
   */
  set(box: string, on: bool): void {
    const name = box.substring(PREFIX.length);
    const kept: string[] = ["-"];
    for (let i = 0; i < COLUMNS.length; i++) this.keep(kept, nameOf(COLUMNS[i]), name, on);
    this.keep(kept, "compact", name, on);
    this.on = kept;
    prefer(KEY, kept.join(" "));
  }

  private keep(to: string[], one: string, changed: string, on: bool): void {
    if (one === changed ? on : this.has(one)) to.push(one);
  }

  /** Returns the menu of the settings. `sizes`: the switch for the number of rows on a page. */
  view(sizes: Node): Node {
    const draft = new Draft();
    const items: Node[] = [];
    for (let i = 0; i < COLUMNS.length; i++) {
      const name = nameOf(COLUMNS[i]);
      const label = COLUMNS[i].substring(name.length + 1);
      items.push(this.box(draft, name, label));
    }
    items.push(this.box(draft, "compact", "Compact rows"));
    items.push(sizes);
    return menu("Columns, density and rows on a page", [text("Columns")], items);
  }

  private box(draft: Draft, name: string, label: string): Node {
    if (this.has(name)) draft.set(PREFIX + name, "on");
    return checkbox(draft, PREFIX + name, label, "jobs.setting");
  }
}

function nameOf(column: string): string {
  return column.substring(0, column.indexOf("="));
}
