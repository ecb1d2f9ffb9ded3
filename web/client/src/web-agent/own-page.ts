// What the script reads from its own page: servers named in links, and the text.
import type { DeclaredServer } from "./api.js";
import { AgentApiError } from "./errors.js";
import { PAGE_SIZE } from "./wire.js";

// More than any page offers; each is sent to the caller.
const MAX_SERVERS = 32;
const MAX_TOOLS = 64;
const MAX_WORDS = 500;
const MAX_ADDRESS = 2_000;
/** What is never text. */
const SILENT = "script, style, template, noscript, iframe, object, embed, svg";

/** The servers that the page names in `<link rel="mcp-server">`. */
export function declaredServers(): DeclaredServer[] {
  const found: DeclaredServer[] = [];
  for (const link of everyOf('link[rel~="mcp-server" i]')) {
    const href = link.getAttribute("href");
    const url = href === null ? null : web(href, link.baseURI);
    if (url === null || found.length >= MAX_SERVERS) continue;
    // Said twice, it is still one.
    if (found.some((server) => server.url === url)) continue;
    const value = (name: string) =>
      link.getAttribute(name)?.slice(0, MAX_WORDS).trim();
    const description = value("data-description");
    const transport = value("data-transport");
    const icon = web(value("data-icon") ?? "", link.baseURI);
    const tools = value("data-tools");
    found.push({
      url,
      title: value("title") ?? "",
      ...(description && { description }),
      ...(tools && { tools: names(tools) }),
      ...(transport && { transport }),
      ...(icon && value("data-icon") && { icon }),
    });
  }
  return found;
}

function names(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .slice(0, MAX_TOOLS);
}

/** The elements of the document, whatever one of them is named; throws for what is no selector. */
export function everyOf(selector: string): Iterable<Element> {
  const name = "querySelectorAll";
  const find = Object.getOwnPropertyDescriptor(Document.prototype, name)
    ?.value as (this: Document, selector: string) => Iterable<Element>;
  return find.call(document, selector);
}

/** What the document itself says, whatever an element of the page is named. */
function own<Name extends "title" | "implementation" | "documentElement">(
  name: Name,
): Document[Name] {
  const property = Object.getOwnPropertyDescriptor(Document.prototype, name);
  return property?.get?.call(document) as Document[Name];
}

/** A web URL, resolved against the page, without user info that imitates another host. */
function web(href: string, base: string): string | null {
  if (href.length > MAX_ADDRESS) return null;
  if (!URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  if (!/^https?:$/.test(url.protocol)) return null;
  return url.username || url.password ? null : url.href;
}

/** The page as HTML without what is no text. */
export function ownHtml(): { html: string; url: string; title: string } {
  if (!/^https?:$/.test(location.protocol)) {
    const words = "Only http and https pages can be read.";
    throw new AgentApiError("ERR_INTERNAL", words, { url: location.href });
  }
  // In a document without a window no element of the copy does anything.
  const inert = own("implementation").createHTMLDocument("");
  const root = own("documentElement");
  const copy = inert.importNode(root, true);
  dropHidden(root, copy);
  for (const silent of copy.querySelectorAll(SILENT)) silent.remove();
  return {
    html: copy.outerHTML.slice(0, PAGE_SIZE),
    url: location.href,
    title: own("title"),
  };
}

/** Takes out of a copy what the page does not show. */
function dropHidden(root: Element, copy: Element): void {
  const shown = root.querySelectorAll("body *");
  const copies = copy.querySelectorAll("body *");
  if (shown.length !== copies.length) return;
  const hidden: Element[] = [];
  shown.forEach((element, at) => {
    // Not every browser can say.
    const visible =
      !("checkVisibility" in element) || element.checkVisibility();
    const copied = copies[at];
    if (!visible && copied) hidden.push(copied);
  });
  for (const element of hidden) element.remove();
}
