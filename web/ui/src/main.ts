// Starts the chat page.
import { mount } from "svelte";
import App from "./App.svelte";
import { AppState } from "./state/app.svelte.js";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/markdown.css";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no #app element.");
mount(App, { target, props: { app: new AppState() } });
