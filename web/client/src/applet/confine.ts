// Runs in an applet's frame before the applet: takes away what no header of every browser closes.
//
// WebRTC and name lookups by `<link>` are outside of content security policies. The constructors are removed here; a page could get
// them back from another realm, so no element that makes one can be created. Everything that is used after the applet has begun is
// captured before, since the applet may replace any built-in function.

/* eslint-disable @typescript-eslint/unbound-method -- methods are captured to be called with any `this` */

/** Elements that show another document. */
const FRAMES = ["iframe", "frame", "object", "embed", "fencedframe", "portal"];
/** Elements that resolve names, connect or navigate by being there. */
const HINTS = ["link", "meta", "base"];
/** Of those, the ones that have no content; `wbr` has none either. */
const VOID = ["frame", "embed", ...HINTS];

const CONSTRUCTORS =
  /^(webkit|moz)?RTC|^(WebTransport|WebSocketStream|XSLTProcessor)/;

type Bound<T, A extends unknown[], R> = (self: T, ...args: A) => R;

confine(window);

function confine(scope: Window & typeof globalThis): void {
  const { Document, DOMImplementation, Element, ShadowRoot } = scope;
  const { call } = Function.prototype;
  const bound = <T, A extends unknown[], R>(work: (this: T, ...args: A) => R) =>
    call.bind(work) as Bound<T, A, R>;
  const indexOf = bound(String.prototype.indexOf);
  const slice = bound(String.prototype.slice);
  const lower = bound(String.prototype.toLowerCase);
  const at = bound(String.prototype.charCodeAt);
  const apply = Reflect.apply;
  const { warn } = console;
  const { String: text, TypeError } = scope;

  const has = (list: string[], name: string) => {
    for (let index = 0; index < list.length; index += 1) {
      if (list[index] === name) return true;
    }
    return false;
  };
  /** The part of a tag's name after its namespace, in small letters. */
  const local = (name: string) => {
    let colon = -1;
    for (
      let next = indexOf(name, ":", 0);
      next !== -1;
      next = indexOf(name, ":", next + 1)
    ) {
      colon = next;
    }
    return lower(slice(name, colon + 1));
  };
  const isClosed = (name: string) => has(FRAMES, name) || has(HINTS, name);
  const refused = (name: string) =>
    warn(
      `Gangway: <${name}> is not allowed in an applet, which has no network access.`,
    );

  /** Where the name of a tag ends that begins here. */
  const nameEnd = (html: string, from: number) => {
    for (let end = from; ; end += 1) {
      const code = at(html, end);
      // The end of the text, white space and controls, `/` and `>`.
      if (!(code > 0x20) || code === 0x2f || code === 0x3e) return end;
    }
  };
  /** The same HTML with harmless elements in the place of those that are closed. */
  const cleaned = (html: string) => {
    let result = "";
    let done = 0;
    for (
      let open = indexOf(html, "<", 0);
      open !== -1;
      open = indexOf(html, "<", open + 1)
    ) {
      const end = nameEnd(html, open + 1);
      const written = slice(html, open + 1, end);
      const name = local(written);
      // An entity could hold a tag that is not to be seen here.
      if (lower(slice(html, open + 1, open + 8)) === "!entity") {
        throw new TypeError("XML with entities is not allowed in an applet.");
      }
      if (!isClosed(name)) continue;
      refused(name);
      const instead = has(VOID, name) ? "wbr" : `blocked-${name}`;
      result += `${slice(html, done, open)}<${instead}`;
      done = end;
    }
    return done === 0 ? html : result + slice(html, done);
  };

  for (const name of Object.getOwnPropertyNames(scope)) {
    if (CONSTRUCTORS.test(name)) Reflect.deleteProperty(scope, name);
  }

  const replace = (
    owner: object | undefined,
    name: string,
    make: (
      old: (...args: unknown[]) => unknown,
    ) => (this: unknown, ...args: unknown[]) => unknown,
  ) => {
    const old = owner && (Reflect.get(owner, name) as unknown);
    if (!owner || typeof old !== "function") return;
    const value = make(old as (...args: unknown[]) => unknown);
    Object.defineProperty(owner, name, { value, configurable: true });
  };
  replace(Document.prototype, "createElement", (old) => {
    return function (this: unknown, tag: unknown, ...more: unknown[]) {
      const name = text(tag);
      const closed = isClosed(local(name));
      if (closed) refused(local(name));
      return apply(old, this, [closed ? "blocked-element" : name, ...more]);
    };
  });
  for (const [owner, method] of [
    [Document.prototype, "createElementNS"],
    [DOMImplementation.prototype, "createDocument"],
  ] as const) {
    replace(owner, method, (old) => {
      return function (
        this: unknown,
        space: unknown,
        tag: unknown,
        ...more: unknown[]
      ) {
        const name = text(tag ?? "");
        const closed = isClosed(local(name));
        if (closed) refused(local(name));
        const named = closed ? "blocked-element" : name;
        return apply(old, this, [space, named, ...more]);
      };
    });
  }
  replace(scope.CustomElementRegistry.prototype, "define", (old) => {
    return function (
      this: unknown,
      name: unknown,
      made: unknown,
      options?: unknown,
    ) {
      const kind = (options as { extends?: unknown } | undefined)?.extends;
      const base = kind === undefined ? undefined : text(kind);
      if (base !== undefined && isClosed(local(base))) {
        throw new TypeError(`<${base}> is not allowed in an applet.`);
      }
      const rest = base === undefined ? [] : [{ extends: base }];
      return apply(old, this, [name, made, ...rest]);
    };
  });
  // What comes in pieces cannot be looked at as a whole.
  const pieces = () => () => {
    throw new TypeError("An applet cannot write HTML in parts.");
  };
  for (const owner of [
    Document,
    Document.prototype,
    Element.prototype,
    ShadowRoot.prototype,
  ]) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (/^(write|writeln|stream.*)$/.test(name)) replace(owner, name, pieces);
    }
  }

  // Every other way from text to elements asks this policy; the header allows no second one.
  interface TrustedTypes {
    createPolicy: (name: string, rules: object) => void;
  }
  const { trustedTypes } = scope as { trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy("default", {
    createHTML: cleaned,
    createScript: (script: string, _type: string, sink: string) =>
      // The document of a `javascript:` address would be a new realm.
      sink === "Location href" ? null : script,
    createScriptURL: (url: string) => url,
  });
  // Libraries that find it would make policies of their own.
  Reflect.deleteProperty(scope, "trustedTypes");
}
