/**
 * The progress of a search. For at most 5 seconds the page itself continues a search by further requests. Then the
 * search is paused until the user presses Continue.
 */
import { ageText } from "../controls/age";
import { button } from "../controls/button";
import { compact } from "../controls/value";
import { JobList, NameSuggestion, Value } from "../generated/records";
import { box, Node, nothing, text } from "../lib/node";
import { Model } from "../model/model";

const PATIENCE_MS: f64 = 5000;

export class Search {
  /** The number of jobs that match; null: unknown. */
  count: Value | null = null;
  isComplete: bool = true;
  /** Whether the rows are only the best so far. If so, the next answer may replace the rows. */
  isPartial: bool = false;
  /** The terms of the query whose names do not exist, such as `task:nmae`. */
  unknown: string[] = [];
  /** Corrections, each with a term of the query and the existing name to use. Empty if jobs were found. */
  suggestions: NameSuggestion[] = [];
  answers: i32 = 0;
  /** How long the server worked on the last answer. */
  tookMs: i64 = 0;
  private scanned: i64 = 0;
  private began: f64 = NaN;

  /** Begins a search with its first answer. */
  begin(m: Model, answer: JobList): void {
    this.answers = 0;
    this.scanned = 0;
    this.began = m.now;
    this.unknown = answer.unknown;
    this.suggestions = answer.suggestions;
    const count = answer.count;
    this.count = count;
    this.add(answer);
  }

  add(answer: JobList): void {
    this.answers++;
    this.scanned += answer.scanned;
    this.isComplete = answer.complete;
    this.isPartial = answer.ranking === "partial";
    this.tookMs = answer.tookMs;
  }

  resume(m: Model): void {
    this.began = m.now;
  }

  stop(): void {
    this.began = NaN;
  }

  /** Whether the page continues the search by itself. `isFull`: the list has as many rows as it can show. */
  shouldContinue(m: Model, isFull: bool): bool {
    if (this.isComplete || !m.live.visible || (isFull && !this.isPartial)) return false;
    return m.now - this.began < PATIENCE_MS;
  }

  /**
   * Returns the progress, such as `searched 2.1 M of 10 M`, with the button Stop or Continue; nothing if the search is
   * complete. `isOn`: a request has no answer yet. `waitsSince`: when the last request was sent.
   */
  view(m: Model, isOn: bool, waitsSince: f64): Node {
    if (isOn) {
      const wait = m.now - (isNaN(this.began) ? waitsSince : min(this.began, waitsSince));
      const progress = this.answers > 0 && !this.isComplete ? this.progress(m) : "Searching…";
      return box("span", "row", [
        text(`${progress} ${ageText(wait)}`),
        button("Stop", "jobs.stop", "", "s"),
      ]);
    }
    if (this.isComplete) return nothing;
    const best = this.isPartial ? "the best so far, " : "";
    return box("span", "row", [
      text(`${best}${this.progress(m)}`),
      button("Continue", "jobs.go-on", "", "s"),
    ]);
  }

  private progress(m: Model): string {
    const total = m.facts.counts.total.value;
    const whole = total > this.scanned ? ` of ${compact(total)}` : "";
    return `searched ${compact(this.scanned)}${whole}`;
  }
}
