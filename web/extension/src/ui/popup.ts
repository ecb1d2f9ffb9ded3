// The entry of popup.html.
import { mount } from "svelte";
import "./styles.js";
import Popup from "./Popup.svelte";
import { Gangway } from "./gangway.svelte.js";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
mount(Popup, { target, props: { gangway: new Gangway() } });
