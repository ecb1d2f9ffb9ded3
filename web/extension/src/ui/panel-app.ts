// The parts of Gangway's own app that the side panel shows, over the bridge.
import { setApp, type AppState } from "../../../ui/src/state/app.svelte.js";
import { AsksState } from "../../../ui/src/state/asks.svelte.js";
import { ProvidersState } from "../../../ui/src/state/providers.svelte.js";
import { ToolsState } from "../../../ui/src/state/tools.svelte.js";
import type { Gangway } from "./gangway.svelte.js";
import { SiteState } from "./site.svelte.js";

export interface PanelApp {
  asks: AsksState;
  permissions: SiteState;
  tools: ToolsState;
  models: { providers: ProvidersState };
}

/** Hands these down to the components that are shared with Gangway's own pages. */
export function setPanelApp(gangway: Gangway): PanelApp {
  const app: PanelApp = {
    asks: new AsksState(gangway.permissions),
    permissions: new SiteState(gangway),
    tools: new ToolsState(gangway.tools),
    models: { providers: new ProvidersState(gangway.models) },
  };
  // Those components use no other part of it.
  setApp(app as unknown as AppState);
  return app;
}
