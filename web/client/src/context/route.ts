// Keeps the launch in the address of a page that draws its own routes: the links of that page, and a reload of it, need it.
import type { Builtins } from "./builtins.js";

export function keepLaunch(built: Builtins): void {
  const found = built.exec(/[?&](launch=[^&#]*)/, location.search);
  if (!found) return;
  const launch = found[1] as string;
  const { origin } = location;

  function kept(
    url: string | URL | null | undefined,
  ): string | URL | null | undefined {
    if (url === undefined || url === null) return url;
    try {
      const to = new URL(url, document.baseURI);
      if (to.origin !== origin || built.exec(/[?&]launch=/, to.search)) {
        return url;
      }
      to.search += `${to.search ? "&" : "?"}${launch}`;
      return to.href;
    } catch {
      // The browser says what is wrong with it.
      return url;
    }
  }

  for (const name of ["pushState", "replaceState"] as const) {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its object below
    const change = built.free(History.prototype[name]);
    History.prototype[name] = function (data, unused, url) {
      change(this, data, unused, kept(url));
    };
  }
}
