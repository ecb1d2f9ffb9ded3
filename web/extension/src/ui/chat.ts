// The entry of chat.html.
import { mount } from "svelte";
import "./styles.js";
import Chat from "./Chat.svelte";
import { Gangway } from "./gangway.svelte.js";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
mount(Chat, { target, props: { gangway: new Gangway() } });
