// Finds the jobs of lists, searches, exports and rehearsals. walk() reads the segments of an order (order.ts) in steps
// of about 100 ms. A walk ends when it has enough matches, when no rows are left, or at a time limit. The next walk
// continues there. What a step reads depends on the kind of the segment:
//   ids ──────────────▶ the next rows by id
//   index ────────────▶ the next entries of an index, in order; if too many rows have the same key, by id (tie)
//   rank ─────────────▶ the next rows by id. Only the best rows (the first in the order) are kept. For each page of the
//                       list, all rows are read.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { confirm } from "./confirm.ts";
import { notACursor } from "./cursor.ts";
import { afterOneRow, idAfter, isOpen, walkIds } from "./id-walk.ts";
import { afterOneEntry, indexOf, positionAfterTie, tieMatching, walkIndex } from "./index-walk.ts";
import { allOf, type WalkCondition } from "./matching.ts";
import type { Segment } from "./order.ts";
import { createPace, STEP_MS, type WalkPace } from "./pace.ts";
import { bestAgain, bestOf, walkRanks } from "./rank-walk.ts";
import type { FoundJob, StepInput, WalkStep } from "./step.ts";
import {
  adaptPosition,
  beginningOf,
  nextRound,
  type Position,
  positionAfter,
  type Row,
  type WalkPlace,
} from "./walk-place.ts";

export interface WalkRequest {
  readonly db: Database;
  readonly matching: WalkCondition;
  readonly segments: readonly Segment[];
  /** Where the walk begins; null: at the beginning of the order. */
  readonly place: WalkPlace | null;
  readonly limit: number;
  /** The number of matches to skip first. */
  readonly skip: number;
  /** The number of rows that the first step reads; 0: the usual number. */
  readonly size: number;
  readonly budgetMs: number;
}

export interface WalkResult {
  readonly found: readonly FoundJob[];
  /** Where the next walk begins; null: all rows were read. The next walk first skips `skip` matches. */
  readonly next: WalkPlace | null;
  readonly skip: number;
  /** The number of rows that were read. */
  readonly scanned: number;
  /** Whether `found` is preliminary (kind `rank`): a walk from `next` reads more rows for the same page. */
  readonly isPartial: boolean;
  /** Whether the time limit of the walk, or of a statement, ended the walk. */
  readonly isCut: boolean;
  /** The number of jobs that were left out, because their texts are too large to check or the check took too long. */
  readonly unchecked: number;
  /** If the last step exceeded its time limit, the number of rows for the next walk's first step; otherwise 0. */
  readonly size: number;
  /** The number of rows that one more step would read, for callers that start the next walk at once. */
  readonly pace: number;
}

const FIRST_STEP = 2_000;
/** Matches are sparse if more than SPARSE rows were read for each match. */
const SPARSE = 4;
const FIRST_OPEN = 250;
const CANDIDATES = 200;
const JUMP = 1_000_000;

export async function walk(request: WalkRequest): Promise<WalkResult> {
  const state = new WalkState(request);
  // After the first step, a step begins only if it will probably end at most STEP_MS / 2 after the time limit.
  const deadline = monotonic() + request.budgetMs - STEP_MS / 2;
  while (state.isUnfinished) {
    await state.step();
    if (monotonic() > deadline || state.pace.isStuck) break;
  }
  return state.end();
}

class WalkState {
  readonly pace: WalkPace;
  readonly #request: WalkRequest;
  readonly #found: FoundJob[] = [];
  #place: WalkPlace | null;
  #skip: number;
  #scanned = 0;
  #unchecked = 0;
  /** The best rows so far of a page of the kind `rank`; null: no row was read for the page. */
  #best: readonly Row[] | null = null;
  /** Whether a page of the kind `rank` has too few rows, because best rows of an earlier walk no longer match. */
  #isShort = false;

  constructor(request: WalkRequest) {
    const { matching, segments, place, limit, skip, size } = request;
    const [first] = segments;
    const open = first !== undefined && isOpen({ matching, segment: first });
    const usual = open || first?.way.kind === "index" ? FIRST_OPEN : FIRST_STEP;
    this.pace = createPace(size || (matching.isAll ? Math.max(100, limit + 1) : usual));
    this.#request = request;
    this.#skip = skip;
    this.#place = place ?? (first === undefined ? null : beginningOf(first, 0));
    if (place !== null) this.#place = this.#checkPlace(place);
  }

  get isUnfinished(): boolean {
    return this.#place !== null && this.#found.length < this.#request.limit && !this.#isShort;
  }

  async step(): Promise<void> {
    const place = this.#place;
    const segment = this.#request.segments[place?.segment ?? -1];
    if (place === null || segment === undefined) return;
    const { position } = place;
    switch (position.kind) {
      case "ids":
        return this.#byId(segment, position);
      case "index":
        return this.#byIndex(segment, position);
      case "tie":
        return this.#byTie(segment, position);
      case "rank":
        return this.#byRank(segment, position);
      default:
        return position satisfies never;
    }
  }

  end(): WalkResult {
    const isPartial = this.#place?.position.kind === "rank" && this.#best !== null;
    const found = isPartial ? this.#partialPage() : this.#found;
    const isFull = this.#found.length >= this.#request.limit || this.#isShort;
    return {
      found,
      next: this.#place,
      skip: this.#skip,
      scanned: this.#scanned,
      isPartial,
      isCut: this.#place !== null && !isFull,
      unchecked: this.#unchecked,
      size: this.pace.isStuck ? this.pace.size : 0,
      pace: this.pace.size,
    };
  }

  async #byId(segment: Segment, position: Position & { kind: "ids" }): Promise<void> {
    const { db, matching } = this.#request;
    if (this.#skip > 0 && matching.isAll && segment.where === "true") {
      const count = Math.min(this.#skip, JUMP);
      const after = await idAfter(db, position.after, segment.fromNewest, count);
      if (after !== null) this.#skip -= count;
      return this.#goTo(after === null ? null : { kind: "ids", after });
    }
    const input = this.#input(segment);
    const step = await this.#run(
      (size) => walkIds({ ...input, size }, position.after),
      () => afterOneRow(input, position.after),
    );
    if (step === null) return;
    const goesOn = step.next === null ? null : ({ kind: "ids", after: step.next } as const);
    await this.#accept(step, position, goesOn);
  }

  async #byIndex(segment: Segment, position: Position & { kind: "index" }): Promise<void> {
    const way = indexOf(segment);
    const input = this.#input(segment);
    const isSparse = this.#found.length * SPARSE < this.#scanned;
    const step = await this.#run(
      // With isSparse, a step may test more than `size` rows. A step of one row must test only this row.
      (size) => walkIndex({ ...input, size }, way, position.last, isSparse && size > 1),
      () => afterOneEntry(input, way, position.last),
    );
    if (step !== null) await this.#accept(step, position, step.next);
  }

  async #byTie(segment: Segment, position: Position & { kind: "tie" }): Promise<void> {
    const way = indexOf(segment);
    const { key, after } = position;
    const matching = allOf([tieMatching(way, key), this.#request.matching]);
    const input = { ...this.#input(segment), matching };
    const step = await this.#run(
      (size) => walkIds({ ...input, size }, after),
      () => afterOneRow(input, after),
    );
    if (step === null) return;
    const goesOn =
      step.next === null
        ? positionAfterTie(segment, key)
        : ({ ...position, after: step.next } as const);
    await this.#accept(step, position, goesOn);
  }

  async #byRank(segment: Segment, round: Position & { kind: "rank" }): Promise<void> {
    const { way } = segment;
    if (way.kind !== "rank") throw notACursor();
    const { limit, matching } = this.#request;
    const wanted = matching.check === null ? limit : CANDIDATES;
    const input = { ...this.#input(segment), wanted };
    this.#best ??= await bestAgain(input, way.key, round);
    const step = await this.#run(
      (size) => walkRanks({ ...input, size }, way.key, round),
      () => afterOneRow(input, round.after),
    );
    if (step === null) return;
    const { rows, cutAt } = await this.#confirm(step);
    this.#best = bestOf(this.#best, rows, segment.descending, limit);
    const bound = this.#best.length >= limit ? (this.#best.at(-1) ?? null) : round.bound;
    const ids = this.#best.map(({ id }) => id);
    const after = cutAt?.id ?? step.next;
    const going: Position = { ...round, after, bound, best: ids };
    if (after !== null) return this.#goTo(going);
    const page = this.#best;
    this.#best = null;
    for (const row of page) this.#found.push(this.#foundAt(row, going));
    // If `bound` is null, the page was never full, so no page follows.
    this.#isShort = bound !== null && page.length < limit;
    this.#goTo(bound === null ? null : nextRound(page.at(-1) ?? bound));
  }

  async #accept(step: WalkStep<unknown>, position: Position, next: Position | null): Promise<void> {
    const { limit, matching } = this.#request;
    const { check } = matching;
    const { rows: confirmed, cutAt } = await this.#confirm(step);
    const passed = check === null ? step.skipped : Math.min(this.#skip, confirmed.length);
    this.#skip -= passed;
    const rows = check === null ? confirmed : confirmed.slice(passed);
    const matches = rows.slice(0, limit - this.#found.length);
    for (const row of matches) this.#found.push(this.#foundAt(row, position));
    const isFull = this.#found.length >= limit;
    const end = isFull ? matches.at(-1) : cutAt;
    this.#goTo(end == null ? next : positionAfter(end, position));
  }

  /**
   * Returns null if the step took too long and has to be repeated with fewer rows. If a step of one row takes too long,
   * for example to search a text of 300 MB, leaves out the row. `next` returns the position after this row.
   */
  async #run<P>(
    step: (size: number) => Promise<WalkStep<P>>,
    next: () => Promise<P | null>,
  ): Promise<WalkStep<P> | null> {
    const done = await this.pace.run(step);
    if (done !== null || !this.pace.isBlocked) return done;
    this.#unchecked += 1;
    return { rows: [], skipped: 0, scanned: 1, next: await next() };
  }

  /** If `position` is null, the walk continues with the next segment. */
  #goTo(position: Position | null): void {
    const segment = this.#place?.segment ?? 0;
    if (position !== null) {
      this.#place = { segment, position };
      return;
    }
    const next = this.#request.segments[segment + 1];
    this.#place = next === undefined ? null : beginningOf(next, segment + 1);
  }

  #foundAt(row: Row, position: Position): FoundJob {
    const segment = this.#place?.segment ?? 0;
    return { id: row.id, after: { segment, position: positionAfter(row, position) } };
  }

  /** A walk that continues after any of these rows begins where this walk has ended. */
  #partialPage(): FoundJob[] {
    const after = this.#place as WalkPlace;
    return (this.#best ?? []).map(({ id }) => ({ id, after }));
  }

  /** `cutAt`: the last tested row; null: all rows were tested. */
  async #confirm({ rows, scanned }: WalkStep<unknown>) {
    const { check } = this.#request.matching;
    // A full step may have read more rows after those that it returns. The next step reads these rows again, so steps
    // are made smaller.
    if (check !== null && rows.length >= CANDIDATES) this.pace.slowDown();
    const all = rows.map(({ id }) => id);
    const done = check === null ? null : await confirm(this.#request.db, all, check);
    const isCut = done !== null && done.reached < rows.length;
    this.#scanned += isCut ? done.reached : scanned;
    this.#unchecked += done?.unchecked ?? 0;
    const confirmed = done === null ? rows : rows.filter(({ id }) => done.ids.has(id));
    return { rows: confirmed, cutAt: isCut ? rows[done.reached - 1] : null };
  }

  #input(segment: Segment): Omit<StepInput, "size"> {
    const { db, matching, limit } = this.#request;
    return matching.check === null
      ? { db, matching, segment, skip: this.#skip, wanted: limit - this.#found.length }
      : { db, matching, segment, skip: 0, wanted: CANDIDATES };
  }

  #checkPlace({ segment, position }: WalkPlace): WalkPlace {
    const way = this.#request.segments[segment]?.way;
    const good = way === undefined ? null : adaptPosition(position, way);
    if (good === null) throw notACursor();
    return { segment, position: good };
  }
}
