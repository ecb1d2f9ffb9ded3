// Starts the page that the address names: the chat, the window of a request, the panel of a chat, an embed, studies, a replay, or an app.
import { Apps, Asks, Study } from "@gangway/client";
import { mount, type Component } from "svelte";
import { takeAddress } from "./embed/address.js";
import { wear } from "./embed/look.js";
import "@gangway/kit/styles/tokens.css";
import "@gangway/kit/styles/base.css";
import "@gangway/kit/styles/markdown.css";

// Before anything else is asked for, so that nothing can see the token in it.
const embed = location.pathname.startsWith("/embed/") ? takeAddress() : null;
const target = find();
// Not awaited here: what it imports needs code from the file that this is built into.
void start();

async function start(): Promise<void> {
  if (embed) {
    wear(embed.style);
    const { default: EmbedPage } = await import("./embed/EmbedPage.svelte");
    mount(EmbedPage, { target, props: { address: embed } });
  } else if (location.pathname === "/panel") {
    const { default: PanelPage } = await import("./panel/PanelPage.svelte");
    mount(PanelPage, { target });
  } else await guarded();
}

function find(): HTMLElement {
  const found = document.getElementById("app");
  if (!found) throw new Error("The page has no #app element.");
  return found;
}

/** The pages that need a login. */
async function guarded(): Promise<void> {
  const [{ default: Guarded }, { LoginState }] = await Promise.all([
    import("./login/Guarded.svelte"),
    import("./login/login.svelte.js"),
  ]);
  const login = new LoginState();
  await login.begin();
  const show = <Props extends Record<string, unknown>>(
    page: Component<Props>,
    props: Props,
  ) => {
    const any = page as Component<Record<string, unknown>>;
    mount(Guarded, { target, props: { login, page: any, props } });
  };
  const query = new URLSearchParams(location.search);

  if (location.pathname === "/permit") {
    const { default: PermitPage } =
      await import("@gangway/kit/asks/PermitPage.svelte");
    const asks = new Asks(login.http);
    show(PermitPage, { id: query.get("ask") ?? "", asks });
  } else if (/^\/study(\/|$)/.test(location.pathname)) {
    // Ids need no decoding; whatever else is written here, the server says that it is not there.
    const id = location.pathname.split("/")[2] ?? "";
    const { default: StudyPage } = await import("./study/StudyPage.svelte");
    show(StudyPage, { id: id || null, calls: new Study(login.http) });
  } else if (/^\/replay(\/|$)/.test(location.pathname)) {
    const session = location.pathname.split("/")[2] || null;
    const at = Number(query.get("at") ?? NaN);
    const { default: ReplayPage } = await import("./replay/ReplayPage.svelte");
    const from = Number.isSafeInteger(at) ? at : null;
    show(ReplayPage, { session, at: from, http: login.http });
  } else if (location.pathname === "/open-app") {
    const { default: OpenAppPage } = await import("./apps/OpenAppPage.svelte");
    const [name, to] = [query.get("app") ?? "", query.get("to") ?? "/"];
    show(OpenAppPage, { name, to, apps: new Apps(login.http) });
  } else {
    const { default: App } = await import("./App.svelte");
    show(App, { login });
  }
}
