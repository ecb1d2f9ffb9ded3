// Launched apps in the addresses of this page.

export interface BesideApp {
  app: string;
  /** Absent: the app is launched again. */
  launch: string | null;
}

const NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LAUNCH = /^l-[0-9a-f]{32}$/;

/** The app that a query asks for, if it can be one. */
export function launchedIn(query: string): BesideApp | null {
  const params = new URLSearchParams(query);
  const app = params.get("app");
  if (app === null || !NAME.test(app)) return null;
  const launch = params.get("launch");
  return {
    app,
    launch: launch !== null && LAUNCH.test(launch) ? launch : null,
  };
}
