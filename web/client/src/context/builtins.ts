// The parts of the browser that the context uses, taken before any script of the page can change them.
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

export function capture() {
  const { parse, stringify } = JSON;
  const { freeze, create, defineProperty } = Object;
  const { random } = Math;
  const { isArray } = Array;
  const now = Date.now;
  const random16 = crypto.getRandomValues.bind(crypto);
  const Bytes = Uint8Array;
  const Encoder = TextEncoder;
  const Later = Promise;
  const Socket = WebSocket;
  // `test` would call whatever `exec` is by then.
  const exec = free(RegExp.prototype.exec);
  const hex = free(Number.prototype.toString);
  return {
    ...{ parse, stringify, freeze, create, defineProperty, isArray, now },
    ...{ random, Later, Socket, exec, free },
    Failure: Error,
    setTimeout: setTimeout.bind(window),
    clearTimeout: clearTimeout.bind(window),
    report: reportError.bind(window),
    listen: free(EventTarget.prototype.addEventListener),
    unlisten: free(EventTarget.prototype.removeEventListener),
    sendOn: free(Socket.prototype.send),
    closeSocket: free(Socket.prototype.close),
    /** Runs the work after this script, without a timer that page scripts may have replaced. */
    soon(work: () => void): void {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        work();
      };
      port2.postMessage(0);
    },
    /** Bytes that the text takes on the wire. */
    size: (text: string) => new Encoder().encode(text).length,
    /** A random uuid; `crypto.randomUUID` is not there on plain HTTP. */
    uuid(): string {
      const bytes = random16(new Bytes(16));
      let id = "";
      for (let at = 0; at < 16; at += 1) {
        let byte = bytes[at] ?? 0;
        if (at === 6) byte = (byte & 15) | 64;
        if (at === 8) byte = (byte & 63) | 128;
        if (at === 4 || at === 6 || at === 8 || at === 10) id += "-";
        id += (byte < 16 ? "0" : "") + hex(byte, 16);
      }
      return id;
    },
  };
}

/** Used only by framed pages: evaluating it costs time before the page's own scripts. */
export function capturePort() {
  const { postMessage, start } = MessagePort.prototype;
  return {
    post: free(postMessage as (this: MessagePort, data: unknown) => void),
    start: free(start),
  };
}
