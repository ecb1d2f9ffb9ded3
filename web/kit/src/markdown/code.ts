// A code block: its language, a copy button, and colours once it stopped growing.
import { copyText } from "../parts/clipboard.js";
import { highlight } from "./highlight.js";

export function codeElement(
  text: string,
  info: string,
  settled: boolean,
): HTMLElement {
  const lang = /^[\w+#.-]+/.exec(info)?.[0] ?? "";
  const code = document.createElement("code");
  code.textContent = text.replace(/\n$/, "");
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.append(code);

  const label = document.createElement("span");
  label.textContent = lang || "text";
  const head = document.createElement("div");
  head.className = "code-head";
  head.append(label, copyButton(code));

  const block = document.createElement("div");
  block.className = "code";
  block.append(head, pre);
  if (settled && lang) void highlight(code, lang);
  return block;
}

function copyButton(code: HTMLElement): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy code");
  button.addEventListener("click", () => {
    void copyText(code.textContent).then((copied) => {
      button.textContent = copied ? "Copied" : "Copy failed";
      setTimeout(() => (button.textContent = "Copy"), 1_500);
    });
  });
  return button;
}
