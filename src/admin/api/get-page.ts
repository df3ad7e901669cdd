// GET /: the page. A browser that opens it, and may see what is in it, has the first picture with it.
import { inTwoParts } from "../../http/compress.ts";
import { header } from "../../http/request.ts";
import type { Admin, Operation } from "../context/admin.ts";
import { assetResponse } from "../page/assets.ts";
import { type FirstFacts, LOADING } from "../page/first-picture.ts";
import { sessionOf } from "./session.ts";

export const getPage: Operation = {
  summary:
    "The page; to a browser that opens it (Sec-Fetch-Dest: document) with its first numbers in it, in modes none and basic",
  answer: "text/html",
  run: async (admin, request) => {
    const page = await admin.assets("index.html");
    const { mode } = admin.config.auth;
    // Who has a token sends it with the page's requests, not with this one.
    const isKnown = mode === "basic" || mode === "none";
    const isOpened = header(request, "sec-fetch-dest") === "document";
    const [head = "", rest] = page.bytes.identity?.toString().split(LOADING) ?? [];
    if (!isKnown || !isOpened || rest === undefined) return assetResponse(request, page);
    const picture = admin.firstPicture((signal) => readFirst(admin, signal));
    // The browser fetches what the head names while the picture is being made.
    return inTwoParts(request, page.contentType, head, async () => (await picture) + rest);
  },
};

async function readFirst(admin: Admin, signal: AbortSignal): Promise<FirstFacts | null> {
  const [session, events] = await Promise.all([sessionOf(admin, signal), admin.feed.first()]);
  if (session.problem !== null) return null;
  return { session: JSON.stringify(session), events };
}
