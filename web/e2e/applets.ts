// Applets for the tests.

/** Speaks, thinks and counts when its buttons are pressed, and says what came of it. */
export const PARROT: Record<string, string> = {
  "meta.json": JSON.stringify({
    slug: "parrot",
    name: "Parrot",
    description: "Repeats what it is told.",
  }),
  "content.html": `
    <h1>Parrot</h1>
    <button id="say">Say</button>
    <button id="think">Think</button>
    <button id="count">Count</button>
    <p>Count: <output id="number">0</output></p>
    <p>Result: <output id="result"></output></p>`,
  "script.js": `
    import { invokeAgent, onStateUpdate, setAppletState } from "gangway";
    const get = (id) => document.getElementById(id);
    let count = 0;
    onStateUpdate((state) => {
      count = state.count ?? 0;
      get("number").textContent = count;
    }, { own: true });
    async function ask(prompt, options) {
      get("result").textContent = "waiting";
      try {
        get("result").textContent = await invokeAgent(prompt, options);
      } catch (error) {
        get("result").textContent = error.code + ": " + error.message;
      }
    }
    get("say").onclick = () => ask("Pieces of eight", { waitForResult: true });
    get("think").onclick = () =>
      ask("Where is the gold", { showInChat: false, waitForResult: true });
    get("count").onclick = () => setAppletState({ count: count + 1 });`,
  "style.css": `
    body { margin: 1rem; font-family: sans-serif; }
    button { padding: 0.5rem 1rem; }`,
};

/** Has a name and nothing to show. */
export const BROKEN: Record<string, string> = {
  "meta.json": JSON.stringify({ slug: "broken", name: "Broken" }),
};
