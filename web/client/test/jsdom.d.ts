// As much of jsdom as the tests use.
declare module "jsdom" {
  export type DOMWindow = Window & typeof globalThis;

  export class JSDOM {
    constructor(html: string, options?: object);
    readonly window: DOMWindow;
  }
}
