/**
 * The incidents on screen, and the current incident, on which the keys act. While the pointer or the focus is on the
 * rows, and for OVER_MS after an incident has ended, no row moves: rows of ended incidents are marked, and new
 * incidents are only counted.
 */

import { Incident } from "../generated/records";
import { after, focus } from "../host";
import { Model } from "../model/model";

const OVER_MS: i32 = 10000;

export class IncidentList {
  rows: Incident[] = [];
  /** The ids of incidents that have ended and still have a row. */
  gone: Set<string> = new Set<string>();
  /** The number of new incidents, which have no row yet. */
  news: i32 = 0;
  current: i32 = 0;
  /** Whether the user has moved through the rows by a key. */
  isWalked: bool = false;
  private until: f64 = 0;

  /** Updates the rows in place, or shows the latest incidents if rows may move. */
  follow(m: Model): void {
    const latest = m.facts.incidents.incidents;
    const places = new Map<string, i32>();
    for (let i = 0; i < latest.length; i++) places.set(latest[i].id, i);
    let kept = 0;
    for (let i = 0; i < this.rows.length; i++) {
      const id = this.rows[i].id;
      if (places.has(id)) {
        this.rows[i] = latest[places.get(id)];
        this.gone.delete(id);
        kept++;
      } else if (!this.gone.has(id)) {
        this.gone.add(id);
        this.until = m.now + OVER_MS;
        after(OVER_MS, "app.draw", "");
      }
    }
    this.news = latest.length - kept;
    if (this.rows.length === 0 || !(m.live.pinsRows || m.now < this.until)) this.show(latest);
  }

  /** Replaces the rows by the latest incidents. */
  show(latest: Incident[]): void {
    const current = this.currentId;
    this.rows = latest.slice(0);
    this.gone.clear();
    this.news = 0;
    this.until = 0;
    this.current = max(0, this.indexOf(current));
  }

  clear(): void {
    this.rows = [];
    this.current = 0;
    this.isWalked = false;
  }

  get at(): Incident | null {
    return this.current < this.rows.length ? this.rows[this.current] : null;
  }

  get currentId(): string {
    const at = this.at;
    return at === null ? "" : at.id;
  }

  indexOf(id: string): i32 {
    for (let i = 0; i < this.rows.length; i++) if (this.rows[i].id === id) return i;
    return -1;
  }

  /**
   * Moves the focus by `by` rows, within the first `count` rows, and makes the new row the current row. The start is
   * the row of the incident `from`. If `from` has no row, the start is the current row, and the user's first move only
   * focuses this row.
   */
  walk(from: string, by: i32, count: i32): void {
    const at = this.indexOf(from);
    if (at >= 0) this.current = at;
    if (at >= 0 || this.isWalked) this.current += by;
    this.current = max(0, min(this.current, count - 1));
    this.isWalked = true;
    if (count > 0) focus(rowIdOf(this.currentId));
  }
}

/** Returns the DOM id of an incident's row. */
export function rowIdOf(incident: string): string {
  return "incident-" + incident;
}
