/**
 * A text from the server, such as `480 jobs wait. worker-c has locked the queue.`, with its names as links. If the text
 * begins with a number, the beginning is bold. The names are searched for in the text; the text is not parsed.
 */
import { isDigit } from "../../../src/domain/portable/digits";
import { link } from "../controls/button";
import { Links } from "../generated/records";
import { leaf, Node, text } from "../lib/node";
import { jobPath, queuePath, workerPath } from "../model/links";

export function sentence(words: string, links: Links): Node[] {
  const end = leadEnd(words);
  const nodes: Node[] = end > 0 ? [leaf("b", "", words.substring(0, end))] : [];
  return nodes.concat(linkNames(words.substring(end), links));
}

/** Returns the text with its names as links, and nothing in bold. */
export function linkNames(words: string, links: Links): Node[] {
  const worker = links.worker;
  if (worker !== null && words.includes(worker))
    return linkAround(words, worker, workerPath(worker), links);
  const queue = links.queue;
  if (queue !== null && words.includes(queue))
    return linkAround(words, queue, queuePath(queue), links);
  if (links.job !== i64.MIN_VALUE) {
    const name = "#" + links.job.toString();
    if (words.includes(name)) return linkAround(words, name, jobPath(links.job), links);
  }
  return words.length > 0 ? [text(words)] : [];
}

function linkAround(words: string, name: string, path: string, links: Links): Node[] {
  const at = words.indexOf(name);
  const rest = Links.empty();
  // The text before and after the name may contain the other names.
  if (links.worker !== name) rest.worker = links.worker;
  if (links.worker !== name && links.queue !== name) rest.queue = links.queue;
  if (links.worker === name) {
    rest.queue = links.queue;
    rest.job = links.job;
  } else if (links.queue === name) rest.job = links.job;
  return linkNames(words.substring(0, at), rest)
    .concat([link(path, "link", [text(name)])])
    .concat(linkNames(words.substring(at + name.length), rest));
}

/** Returns where a beginning such as `480 jobs wait.` or `≈ 8,400 jobs` ends; 0: there is none. */
function leadEnd(words: string): i32 {
  let at = 0;
  // In a text such as `Attempt 18 of 25 begins`, the beginning is not bold: its number is not a count.
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
