// The pages beside the chat, as people find them.
import type { SidePage } from "../state/app.svelte.js";
import type { IconName } from "./icons.js";

export const PAGES: Record<SidePage, { title: string; icon: IconName }> = {
  applets: { title: "Applets", icon: "applets" },
  models: { title: "Models", icon: "chip" },
  tools: { title: "Tools", icon: "plug" },
  permissions: { title: "Permissions", icon: "shield" },
};
