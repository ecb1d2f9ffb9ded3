// Lets the customer's own assistant in: consent, the shop's MCP server, and the chat.
import { noGangway, plainWords } from "./words.js";

const $ = (id) => document.getElementById(id);

const SYSTEM =
  "You help a customer of Bollard & Daughters, a ship's chandler. Use the shop's tools to find products, show them on the page and add them to the cart. Mention prices. Never claim to have bought anything: the customer does that.";

const TOOLS = [
  ...["search", "add_to_cart", "view_cart"],
  ...["highlight_product", "get_cart"],
];

let serverId = null;
let chatId = null;

export function setUp() {
  const step = (id, work) => {
    $(id).addEventListener("click", () => void run($(id), work));
  };
  step("connect", connect);
  step("disconnect", disconnect);
  step("open", openChat);
  step("close", closeChat);
  // Nothing tells a page that the customer closed the chat; but its frame goes.
  new MutationObserver((changes) => {
    const gone = changes.flatMap(({ removedNodes }) => [...removedNodes]);
    if (chatId !== null && gone.some((node) => node.title === "Chat")) {
      chatId = null;
      say("You closed the chat.");
      show();
    }
  }).observe(document.documentElement, { childList: true });
  if (!window.agent) say(noGangway(document.body.dataset.gangway));
}

function say(words) {
  $("said").textContent = words;
}

/** One thing at a time; whatever goes wrong is said. */
async function run(button, work) {
  if (!window.agent) {
    say(noGangway(document.body.dataset.gangway));
    return;
  }
  button.disabled = true;
  try {
    await work(window.agent);
  } catch (error) {
    say(plainWords(error));
  } finally {
    button.disabled = false;
    show();
  }
}

function show() {
  $("connect").hidden = serverId !== null;
  $("disconnect").hidden = serverId === null;
  $("open").hidden = chatId !== null;
  $("open").classList.toggle("primary", serverId !== null);
  $("close").hidden = chatId === null;
  document.body.classList.toggle("chatting", chatId !== null);
}

async function connect(agent) {
  say("Gangway asks for permission in a separate window.");
  const { granted } = await agent.requestPermissions({
    scopes: ["mcp:servers.register", "chat:open"],
    reason:
      "So that your assistant can search our products and fill your cart, in a chat beside the shop.",
  });
  if (!granted) {
    say(plainWords({ code: "ERR_PERMISSION_DENIED" }));
    return;
  }
  const [server] = await agent.mcp.discover();
  const { url, title, description, tools } = server;
  say("Gangway asks whether to connect this shop's MCP server.");
  const registered = await agent.mcp.register({
    ...{ url, name: title, description, tools },
  });
  if (!registered.success) {
    say(plainWords(registered.error));
    return;
  }
  serverId = registered.serverId;
  say("Connected. Now open the chat.");
}

async function disconnect(agent) {
  await agent.mcp.unregister(serverId);
  serverId = null;
  say("Disconnected. Your assistant can no longer use our server.");
}

async function openChat(agent) {
  const accent = getComputedStyle(document.body).getPropertyValue("--brand");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const opened = await agent.chat.open({
    systemPrompt: SYSTEM,
    tools: TOOLS,
    style: { theme: dark ? "dark" : "light", accentColor: accent.trim() },
  });
  if (!opened.success) {
    const first = serverId === null && opened.error.code !== "USER_DENIED";
    say(first ? "Connect Gangway first." : plainWords(opened.error));
    return;
  }
  chatId = opened.chatId;
  say(
    serverId === null
      ? "The chat is open. Your assistant sees the cart on this page; connect Gangway to let it search our products."
      : "The chat is open. Try asking for something against the rain.",
  );
}

async function closeChat(agent) {
  await agent.chat.close(chatId);
  chatId = null;
  say("The chat is closed.");
}
