// The entry of install.html.
import { mount } from "svelte";
import "./styles.js";
import Install from "./Install.svelte";
import { Gangway } from "./gangway.svelte.js";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
mount(Install, { target, props: { gangway: new Gangway() } });
