// GET /api/events: sends each requested event when its content changes. If no events are requested, sends the event
// `overview`, with the JSON of /api/overview. When the counts of the queue cannot be read, sends the event `problem`,
// whose data are an Error of the API.
import * as v from "valibot";
import type { Operation } from "../../context/admin.ts";
import { type FeedEvent, feedEvents } from "../../feed/feed.ts";
import { readQuery } from "../../wire/wire.ts";

const isEvent = (name: string): name is FeedEvent => feedEvents.includes(name as FeedEvent);

const eventList = v.pipe(
  v.string(),
  v.transform((text) => [...new Set(text.split(",").map((name) => name.trim()))]),
  v.check((names) => names.every(isEvent), `must be one or more of ${feedEvents.join(", ")}`),
  v.transform((names) => names.filter(isEvent)),
);

const query = {
  events: {
    check: v.optional(eventList),
    doc: {
      type: "string",
      default: "overview",
      examples: ["pulse,counts"],
      description: `which events, separated by commas: ${feedEvents.join(", ")}`,
    },
  },
};

export const watchEvents: Operation = {
  summary:
    `Server-sent events: overview (as GET /api/overview), pulse (the counts as numbers, at least
every 5 s), counts (as GET /api/counts), incidents, horizon, operation; and problem (an Error). Each event
has an id; to continue after an event, send its id as Last-Event-ID`.replaceAll("\n", " "),
  query,
  answer: "text/event-stream",
  run: ({ feed, whileLoggedIn }, request) => {
    const { events = ["overview"] } = readQuery(request, query);
    return whileLoggedIn(request, (stream) => feed.watch(stream, events));
  },
};
