// The entry of permit.html.
import { mount } from "svelte";
import "./styles.js";
import Permit from "./Permit.svelte";
import { Gangway } from "./gangway.svelte.js";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
mount(Permit, { target, props: { gangway: new Gangway() } });
