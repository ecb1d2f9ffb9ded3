// The pages beside the chat, as people find them.
import type { SidePage } from "./address.js";
import type { IconName } from "@gangway/kit/parts/icons.js";

export const PAGES: Record<SidePage, { title: string; icon: IconName }> = {
  applets: { title: "Applets", icon: "applets" },
  agents: { title: "Agents", icon: "bot" },
  models: { title: "Models", icon: "chip" },
  tools: { title: "Tools", icon: "plug" },
  permissions: { title: "Permissions", icon: "shield" },
};
