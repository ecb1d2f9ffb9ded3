// The entry of panel.html.
import { mount } from "svelte";
import "./styles.js";
import Panel from "./Panel.svelte";
import { Gangway } from "./gangway.svelte.js";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
mount(Panel, { target, props: { gangway: new Gangway() } });
