// The pages of a chat: its own, the sites that can be connected, and what went wrong.
import { Http, Pages, type PageInfo } from "@gangway/client";
import { expect, test } from "vitest";
import { PagesState } from "../src/chat/pages.svelte.js";

const page = (
  pageId: string,
  kind: PageInfo["kind"],
  sessionId: string | null,
): PageInfo => ({
  ...{ pageId, kind, name: pageId, origin: `https://${pageId}.example` },
  ...{ title: pageId, sessionId, server: null, present: true, tools: [] },
});

const PAGES = [
  page("board", "applet", "s1"),
  page("shop", "site", null),
  page("other", "site", "s2"),
  page("list", "app", "s2"),
];

/** A server whose sites can be connected, unless they are gone. */
function served(gone: string[] = []): [PagesState, string[]] {
  const asked: string[] = [];
  let pages = PAGES;
  const http = new Http({
    fetch: (input, init) => {
      const path = input as string;
      if (init?.method !== "PUT")
        return Promise.resolve(Response.json({ pages }));
      const id = path.split("/")[3] ?? "";
      asked.push(`${id} ${init.body as string}`);
      if (gone.includes(id)) {
        const error = {
          ...{ status: "error", error_code: "page_not_found" },
          ...{ message: "page not found", retryable: false },
        };
        return Promise.resolve(Response.json(error, { status: 404 }));
      }
      const { sessionId } = JSON.parse(init.body as string) as PageInfo;
      pages = pages.map((one) =>
        one.pageId === id ? { ...one, sessionId } : one,
      );
      return Promise.resolve(new Response(null, { status: 204 }));
    },
  });
  return [new PagesState(new Pages(http), "s1"), asked];
}

const names = (pages: PageInfo[]) => pages.map(({ pageId }) => pageId);

test("a chat has its pages, and sites of no chat or another one can be connected", async () => {
  const [state, asked] = served();
  expect(state.loaded).toBe(false);
  await state.load();
  expect(names(state.own)).toEqual(["board"]);
  expect(names(state.sites)).toEqual(["shop", "other"]);
  const [shop] = state.sites;
  expect(shop && (await state.connect(shop))).toBe(true);
  expect(names(state.own)).toEqual(["board", "shop"]);
  expect(shop && (await state.disconnect(shop))).toBe(true);
  expect(names(state.own)).toEqual(["board"]);
  expect(asked).toEqual(['shop {"sessionId":"s1"}', 'shop {"sessionId":null}']);
});

test("a site that was closed meanwhile is told, and the list is read again", async () => {
  const [state] = served(["shop"]);
  await state.load();
  const [shop] = state.sites;
  expect(shop && (await state.connect(shop))).toBe(false);
  expect(state.problem?.code).toBe("page_not_found");
  expect(state.busy).toBe(false);
});
