// Elements, style sheets and images that load something.
import { element, text } from "./parts.js";
import type { Channel, Target } from "./sink.js";

const css =
  (rule: (url: string) => string) =>
  ({ url }: Target) =>
    `<style>${rule(`${url}/secret`)}</style><p class="x">text</p>`;

export const ELEMENTS: Channel[] = [
  {
    name: "iframe",
    ...element("iframe", ({ url }) => ({ src: `${url}/secret` })),
  },
  {
    name: "iframe-content",
    content: ({ url }) => `<iframe src="${url}/secret"></iframe>`,
  },
  {
    name: "iframe-in-frame",
    ...element("iframe", ({ url }) => ({
      srcdoc: `<iframe src="${url}/secret"></iframe><img src="${url}/image">`,
    })),
  },
  {
    name: "iframe-refresh",
    ...element("iframe", ({ url }) => ({
      srcdoc: `<meta http-equiv="refresh" content="0; url=${url}/secret">`,
    })),
  },
  {
    name: "frameset",
    content: ({ url }) => `<frameset><frame src="${url}/secret"></frameset>`,
    script: ({ url }) => `
      const set = document.createElement("frameset");
      const frame = document.createElement("frame");
      frame.src = ${text(`${url}/secret`)};
      set.append(frame);
      document.body.append(set);`,
  },
  {
    name: "fenced-frame",
    script: ({ url }) => `
      const made = document.createElement("fencedframe");
      made.config = new FencedFrameConfig(${text(`${url}/secret`)});
      document.body.append(made);`,
  },
  {
    name: "object",
    ...element("object", ({ url }) => ({ data: `${url}/secret` })),
  },
  {
    name: "embed",
    ...element("embed", ({ url }) => ({ src: `${url}/secret` })),
  },
  { name: "image", ...element("img", ({ url }) => ({ src: `${url}/secret` })) },
  {
    name: "image-content",
    content: ({ url }) => `<img src="${url}/secret" alt="">`,
  },
  {
    name: "srcset",
    ...element("img", ({ url }) => ({ srcset: `${url}/secret 1x` })),
  },
  {
    name: "attribution",
    ...element("img", ({ url }) => ({ attributionsrc: `${url}/secret` })),
  },
  {
    name: "poster",
    ...element("video", ({ url }) => ({ poster: `${url}/secret` })),
  },
  {
    name: "audio",
    ...element("audio", ({ url }) => ({ src: `${url}/secret` })),
  },
  {
    name: "track",
    content: ({ url }) =>
      `<video crossorigin src="data:video/mp4,x"><track default src="${url}/secret"></video>`,
    script: () => `document.querySelector("track").track.mode = "showing";`,
  },
  {
    name: "input-image",
    ...element("input", ({ url }) => ({ type: "image", src: `${url}/secret` })),
  },
  {
    name: "body-background",
    script: ({ url }) =>
      `document.body.setAttribute("background", ${text(`${url}/secret`)});`,
  },
  {
    name: "base",
    content: ({ url }) => `<base href="${url}/"><img src="secret" alt="">`,
  },
  {
    name: "css-background",
    content: css((url) => `.x { background: url(${url}) }`),
  },
  { name: "css-import", content: css((url) => `@import url(${url});`) },
  {
    name: "css-font",
    content: css(
      (url) =>
        `@font-face { font-family: y; src: url(${url}) } .x { font-family: y }`,
    ),
  },
  {
    name: "css-image-set",
    content: css((url) => `.x { background: image-set(url(${url}) 1x) }`),
  },
  {
    name: "css-cursor",
    content: css((url) => `body, .x { cursor: url(${url}), auto }`),
  },
  {
    name: "css-filter",
    content: css(
      (url) =>
        `.x { filter: url(${url}#a); mask: url(${url}#b); clip-path: url(${url}#c) }`,
    ),
  },
  {
    name: "svg-image",
    content: ({ url }) =>
      `<svg><image href="${url}/secret" width="9" height="9"/></svg>`,
  },
  {
    name: "svg-use",
    content: ({ url }) => `<svg><use href="${url}/secret#a"/></svg>`,
  },
  {
    name: "svg-fe-image",
    content: ({ url }) =>
      `<svg><filter id="f"><feImage href="${url}/secret"/></filter><rect width="9" height="9" filter="url(#f)"/></svg>`,
  },
  {
    name: "xslt-document",
    script: ({ url }) => `
      const parse = (xml) => new DOMParser().parseFromString(xml, "text/xml");
      const processor = new XSLTProcessor();
      processor.importStylesheet(parse('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">' +
        '<xsl:template match="/"><xsl:copy-of select="document(${text(`${url}/secret`).replaceAll('"', "&quot;")})"/></xsl:template></xsl:stylesheet>'));
      processor.transformToDocument(parse("<x/>"));`,
  },
];
