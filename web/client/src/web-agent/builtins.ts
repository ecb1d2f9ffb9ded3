// The parts of the browser that the page's script uses, taken before later scripts of the page can change them.
/* eslint-disable @typescript-eslint/unbound-method -- taking methods off their objects is what this file is for */

type Method<This, Args extends unknown[], Result> = (
  self: This,
  ...args: Args
) => Result;

/** A method as a function of its object, which calls nothing that can be changed later. */
function free<This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
): Method<This, Args, Result> {
  return Function.prototype.call.bind(method) as Method<This, Args, Result>;
}

export type Builtins = ReturnType<typeof capture>;

type Post = (this: Window, data: unknown, to: string, ports: object[]) => void;

export function capture() {
  const { parse, stringify } = JSON;
  const { freeze, create, defineProperty } = Object;
  const { isArray } = Array;
  const isWhole = Number.isInteger;
  const Later = Promise;
  const Channel = MessageChannel;
  const random = crypto.getRandomValues.bind(crypto);
  const Bytes = Uint8Array;
  const hex = free(Number.prototype.toString);
  // Of a sandbox it is "null", whatever its address is.
  const { origin } = window;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- a form of it is, for tags that are gone
  const createElement = free(Document.prototype.createElement);
  const makeElement = <Name extends keyof HTMLElementTagNameMap>(name: Name) =>
    createElement(document, name) as HTMLElementTagNameMap[Name];
  const handPort = free(
    MessagePort.prototype.postMessage as (
      this: MessagePort,
      data: null,
      ports: Transferable[],
    ) => void,
  );
  return {
    ...{ parse, stringify, freeze, create, defineProperty, isArray, isWhole },
    ...{ Later, Channel, origin, URL, Encoder: TextEncoder },
    setTimeout: setTimeout.bind(window),
    clearTimeout: clearTimeout.bind(window),
    soon: queueMicrotask.bind(window),
    open: window.open.bind(window),
    listen: free(EventTarget.prototype.addEventListener),
    unlisten: free(EventTarget.prototype.removeEventListener),
    element: makeElement,
    append: free(Node.prototype.appendChild as (child: Node) => Node),
    remove: free(Element.prototype.remove),
    inPage: (node: Node) => node.isConnected,
    shadow: free(Element.prototype.attachShadow),
    /** Taken from each window separately: that of a frame of another origin has no prototype to take it from. */
    postTo: (to: Window, data: unknown, origin: string, port: MessagePort) => {
      (to.postMessage as Post).call(to, data, origin, [port]);
    },
    post: free(
      MessagePort.prototype.postMessage as (
        this: MessagePort,
        data: unknown,
      ) => void,
    ),
    /** A port, handed over by another. */
    postPort: (by: MessagePort, port: MessagePort) => {
      handPort(by, null, [port]);
    },
    start: free(MessagePort.prototype.start),
    closePort: free(MessagePort.prototype.close),
    /** 16 random bytes, as hex. */
    id(): string {
      const bytes = random(new Bytes(16));
      let id = "";
      for (let at = 0; at < 16; at += 1) {
        const byte = bytes[at] ?? 0;
        id += (byte < 16 ? "0" : "") + hex(byte, 16);
      }
      return id;
    },
  };
}
