// What the script reads from its own page: servers named in links, and the text.
import type { DeclaredServer } from "./api.js";
import { AgentApiError } from "./errors.js";
import { PAGE_SIZE } from "./wire.js";

// More than any page offers; each goes to whoever called.
const MAX_SERVERS = 32;
/** What is never text. */
const SILENT = "script, style, template, noscript, iframe, object, embed, svg";

/** The servers that the page names in `<link rel="mcp-server">`. */
export function declaredServers(): DeclaredServer[] {
  const found: DeclaredServer[] = [];
  for (const link of document.querySelectorAll('link[rel~="mcp-server" i]')) {
    const href = link.getAttribute("href");
    const url = href === null ? null : web(href);
    if (url === null || found.length >= MAX_SERVERS) continue;
    const value = (name: string) => link.getAttribute(name)?.trim();
    const description = value("data-description");
    const transport = value("data-transport");
    const icon = web(value("data-icon") ?? "");
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
    .filter((name) => name !== "");
}

/** An address of the web, resolved against the page. */
function web(href: string): string | null {
  if (!URL.canParse(href, document.baseURI)) return null;
  const url = new URL(href, document.baseURI);
  return url.protocol === "http:" || url.protocol === "https:"
    ? url.href
    : null;
}

/** The page as HTML without what is no text. */
export function ownHtml(): { html: string; url: string; title: string } {
  if (!/^https?:$/.test(location.protocol)) {
    const words = "Only pages of http and https can be read.";
    throw new AgentApiError("ERR_INTERNAL", words, { url: location.href });
  }
  // In a document without a window no element of the copy does anything.
  const inert = document.implementation.createHTMLDocument("");
  const copy = inert.importNode(document.documentElement, true);
  for (const silent of copy.querySelectorAll(SILENT)) silent.remove();
  return {
    html: copy.outerHTML.slice(0, PAGE_SIZE),
    url: location.href,
    title: document.title,
  };
}
