// Starts the page that the address names: the chat, the window of a question, or the panel of a chat.
import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/markdown.css";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
if (location.pathname === "/permit") {
  const id = new URLSearchParams(location.search).get("ask") ?? "";
  const { default: PermitPage } =
    await import("./permissions/PermitPage.svelte");
  mount(PermitPage, { target, props: { id } });
} else if (location.pathname === "/panel") {
  const { default: PanelPage } = await import("./panel/PanelPage.svelte");
  mount(PanelPage, { target });
} else {
  const { default: App } = await import("./App.svelte");
  const { AppState } = await import("./state/app.svelte.js");
  mount(App, { target, props: { app: new AppState() } });
}
