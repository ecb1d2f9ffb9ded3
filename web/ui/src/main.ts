// Starts the page that the address names: the chat, the window of a question, the panel of a chat, an embed, or studies.
import { mount } from "svelte";
import { takeAddress } from "./embed/address.js";
import { wear } from "./embed/look.js";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/markdown.css";

// Before anything else is asked for, so that nothing can see the token in it.
const embed = location.pathname.startsWith("/embed/") ? takeAddress() : null;
const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
if (embed) {
  wear(embed.style);
  const { default: EmbedPage } = await import("./embed/EmbedPage.svelte");
  mount(EmbedPage, { target, props: { address: embed } });
} else if (location.pathname === "/permit") {
  const id = new URLSearchParams(location.search).get("ask") ?? "";
  const { default: PermitPage } =
    await import("./permissions/PermitPage.svelte");
  mount(PermitPage, { target, props: { id } });
} else if (location.pathname === "/panel") {
  const { default: PanelPage } = await import("./panel/PanelPage.svelte");
  mount(PanelPage, { target });
} else if (/^\/study(\/|$)/.test(location.pathname)) {
  // Ids need no decoding; whatever else is written here, the server says that it is not there.
  const id = location.pathname.split("/")[2] ?? "";
  const { default: StudyPage } = await import("./study/StudyPage.svelte");
  mount(StudyPage, { target, props: { id: id || null } });
} else {
  const { default: App } = await import("./App.svelte");
  const { AppState } = await import("./state/app.svelte.js");
  mount(App, { target, props: { app: new AppState() } });
}
