// What a replay file runs: it needs nothing but the file.
import { mount } from "svelte";
import "@gangway/kit/styles/tokens.css";
import "@gangway/kit/styles/base.css";
import "@gangway/kit/styles/markdown.css";
import { RECORDING_ID } from "../file.js";
import FilePage from "./FilePage.svelte";

// The recording stands after this script.
document.addEventListener("DOMContentLoaded", () => {
  const target = document.getElementById("app");
  const text = document.getElementById(RECORDING_ID)?.textContent ?? "";
  if (target) mount(FilePage, { target, props: { text } });
});
