/**
 * Shows a text from the server, such as `480 jobs wait. worker-c has locked the queue.`, with links on the names of a
 * worker, a queue and a job. If the text begins with a count, its beginning is bold. The server sends the names
 * separately (Links). linkNames() finds the names in the text.
 */
import { isDigit } from "../../../src/domain/portable/digits";
import { link } from "../controls/button";
import { Links } from "../generated/records";
import { isLetter } from "../lib/letters";
import { leaf, Node, text } from "../lib/node";
import { jobPath, queuePath, workerPath } from "../model/links";

export function sentence(words: string, links: Links): Node[] {
  const end = leadEnd(words);
  const nodes: Node[] = end > 0 ? [leaf("b", "", words.substring(0, end))] : [];
  return nodes.concat(linkNames(words.substring(end), links));
}

/** Returns the text with its names as links, and nothing in bold. */
export function linkNames(words: string, links: Links): Node[] {
  const names: string[] = [];
  const paths: string[] = [];
  const worker = links.worker;
  if (worker !== null) {
    names.push(worker);
    paths.push(workerPath(worker));
  }
  const queue = links.queue;
  if (queue !== null) {
    names.push(queue);
    paths.push(queuePath(queue));
  }
  const job = links.job;
  if (job !== i64.MIN_VALUE) {
    names.push("#" + job.toString());
    paths.push(jobPath(job));
  }
  return linked(words, names, paths, 0);
}

/** Returns the text with links on the names that it contains. Names before the index `from` get no link. */
function linked(words: string, names: string[], paths: string[], from: i32): Node[] {
  for (let i = from; i < names.length; i++) {
    const name = names[i];
    const at = placeOf(words, name);
    if (at < 0) continue;
    return linked(words.substring(0, at), names, paths, i + 1)
      .concat([link(paths[i], "link", [text(name)])])
      .concat(linked(words.substring(at + name.length), names, paths, i + 1));
  }
  return words.length > 0 ? [text(words)] : [];
}

/** Returns the index of the first occurrence of a name that is not a part of a longer word; -1: there is none. */
function placeOf(words: string, name: string): i32 {
  let at = name.length > 0 ? words.indexOf(name) : -1;
  while (at >= 0 && (isInWord(words, at - 1) || isInWord(words, at + name.length)))
    at = words.indexOf(name, at + 1);
  return at;
}

function isInWord(words: string, at: i32): bool {
  // Outside of the text, charCodeAt() returns -1.
  const c = words.charCodeAt(at);
  return isLetter(c) || isDigit(c);
}

/** Returns the length of a beginning such as `480 jobs wait.` or `≈ 8,400 jobs`; 0 if the text has none. */
function leadEnd(words: string): i32 {
  let at = 0;
  // In a text such as `Attempt 18 of 25 is due`, the beginning is not bold: its number is not a count.
  if (words.startsWith("Attempt ")) return 0;
  while (at < words.length && !isDigit(words.charCodeAt(at))) {
    if (at > "at least ".length) return 0;
    at++;
  }
  const stop = words.indexOf(". ");
  if (stop > 0 && stop < 40 && at < stop) return stop + 1;
  const noun = words.indexOf(" ", at);
  const verb = noun < 0 ? -1 : words.indexOf(" ", noun + 1);
  return verb < 0 || at === words.length ? 0 : verb;
}
