// What is different in a text that was sent before: a JSON array of the new text's parts in their order,
// each a string, or `[from, count]` for so many pieces of the old text from one on. A text's pieces end
// behind its commas, so what is in JSON a member, a number or a row is a few of them.

type Part = string | readonly [from: number, count: number];

/** A shorter run of pieces is written out: naming it would take as long. */
const LEAST_RUN = 24;

/** The delta that makes `after` of `before`. */
export function textDelta(before: string, after: string): string {
  const old = piecesOf(before);
  const places = placesOf(old);
  const parts: Part[] = [];
  let text = "";
  let run = { from: 0, count: 0, text: "" };
  const endRun = () => {
    if (run.text.length < LEAST_RUN) text += run.text;
    else {
      if (text !== "") parts.push(text);
      parts.push([run.from, run.count]);
      text = "";
    }
    run = { from: 0, count: 0, text: "" };
  };
  // Where the next piece stood if nothing but the pieces themselves had changed.
  let at = 0;
  for (const piece of piecesOf(after)) {
    const place = old[at] === piece ? at : (places.get(piece) ?? NOWHERE);
    if (run.count > 0 && place !== run.from + run.count) endRun();
    if (place === NOWHERE) {
      text += piece;
      at++;
      continue;
    }
    if (run.count === 0) run.from = place;
    run.count++;
    run.text += piece;
    at = place + 1;
  }
  endRun();
  if (text !== "") parts.push(text);
  return JSON.stringify(parts);
}

const NOWHERE = -1;

function piecesOf(text: string): readonly string[] {
  return text.match(/[^,]*,|[^,]+$/g) ?? [];
}

/** Where each piece stands that stands in one place only: such a one tells where its row has gone. */
function placesOf(pieces: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [at, piece] of pieces.entries()) {
    places.set(piece, places.has(piece) ? NOWHERE : at);
  }
  return places;
}
