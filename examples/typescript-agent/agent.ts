// Books movie tickets from a sentence, by rules: node agent.ts "two seats for a comedy on Saturday evening, near the front"
// A booking that is under way is gone on with. On any other page it uses one tool: node agent.ts 'switch {"on": true}'
// Needs Node 22.18 or newer and nothing else; GANGWAY_URL and GANGWAY_SESSION (of a page, or a chat) say where, GANGWAY_KEY is a key or token.
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

type Item = { id: string; isDisabled?: boolean; [field: string]: unknown };
type Named = { id: string; value: string };
type Booking = { status: "open" | "booked" | "cancelled"; seats?: Named[]; code?: string };
type State = { selected?: Named; selectedList?: Named[]; quantities?: { item: Named; count: number }[]; booking?: Booking };
type Page = { kind: string; server: string; state?: Spec };
type Spec = { title?: string; stage: string; items: Item[]; state?: State; pages?: Page[] };
type Tool = { name: string; description: string; parameters: Record<string, { type: string; optional?: boolean }> };
type Payload = { uiSpec: Spec; toolSchema: Tool[]; result?: unknown };
const { GANGWAY_URL = "http://127.0.0.1:3000", GANGWAY_KEY = "", GANGWAY_SESSION = "default" } = process.env;
const COUNTS = ["", "one", "two", "three", "four", "five", "six"];
const DAYPARTS = { morning: ["06", "12"], afternoon: ["12", "17"], evening: ["17", "21:30"], night: ["20:30", "24"] };
const wish = process.argv[2] ?? "one seat";
const sentence = wish.toLowerCase();
const says = (value: unknown) => sentence.includes(String(value).toLowerCase());
const count = Number(/\d+/.exec(sentence)?.[0]) || (sentence.split(/\W+/).map((word) => COUNTS.indexOf(word)).find((n) => n > 0) ?? 1);
const [from = "", to = ""] = Object.entries(DAYPARTS).find(([part]) => says(part))?.[1] ?? ["00", "24"];

class Relay {
  #last = 0;
  #prefix = "";
  #waiting = new Map<string, [(payload: Payload) => void, (why: Error) => void]>();
  #socket = new WebSocket(`${GANGWAY_URL.replace(/^http/, "ws")}/agent/ws?token=${GANGWAY_KEY}`);

  async join(): Promise<void> {
    await new Promise((resolve, reject) => Object.assign(this.#socket, { onopen: resolve, onerror: reject }));
    this.#socket.onclose = () => this.#waiting.forEach(([, reject]) => reject(new Error("The relay is gone.")));
    this.#socket.onmessage = ({ data }) => {
      const { type, replyTo, payload } = JSON.parse(String(data));
      const [resolve, reject] = this.#waiting.get(replyTo) ?? [];
      this.#waiting.delete(replyTo);
      if (type === "error") reject?.(new Error(`${payload.code}: ${payload.message}`));
      else resolve?.(payload);
    };
    await this.ask("relay.join", { role: "agent", sessionId: GANGWAY_SESSION });
  }

  ask(type: string, payload: object): Promise<Payload> {
    const id = `q${(this.#last += 1)}`;
    this.#socket.send(JSON.stringify({ v: "mvp-0.2", type, id, payload }));
    return new Promise((resolve, reject) => this.#waiting.set(id, [resolve, reject]));
  }

  /** Uses a tool and gives back what came of it. */
  async use(toolName: string, params: object, reason: string): Promise<Payload> {
    console.log(`${toolName} ${JSON.stringify(params)}: ${reason}`);
    return this.ask("tool.call", { toolName: this.#prefix + toolName, params, reason });
  }

  /** What the page shows; in a chat that is its booking page, whose tools have its name before theirs. */
  async look(): Promise<Payload> {
    const shown = await this.ask("snapshot.get", {});
    const page = shown.uiSpec?.pages?.find(({ kind, state }) => kind === "relay" && state?.state?.booking);
    if (page?.state) {
      this.#prefix = `${page.server}/`;
      return { ...shown, uiSpec: page.state };
    }
    return shown.uiSpec ? shown : Promise.reject(new Error("The page shows nothing yet."));
  }

  say = (text: string) => this.#socket.send(JSON.stringify({ v: "mvp-0.2", type: "agent.message", payload: { text } }));
  leave = () => this.#socket.close();
}

/** The item that most of the wishes hold for, and of several the first. */
function best(items: Item[], ...wishes: ((item: Item) => boolean)[]): Item {
  const fit = (item: Item) => wishes.filter((wish) => wish(item)).length;
  return items.filter((item) => !item.isDisabled).reduce((a, b) => (fit(b) > fit(a) ? b : a));
}

/** Free seats side by side, as near to the wished row as can be. */
function seats(items: Item[]): Item[] {
  const rows = [...new Set(items.map(({ row }) => row))];
  const goal = says("front") ? 1 : says("back") ? rows.length - 1 : rows.length >> 1;
  const far = (row: unknown) => Math.abs(rows.indexOf(row) - goal);
  for (const row of [...rows].sort((a, b) => far(a) - far(b))) {
    const here = items.filter((item) => item["row"] === row);
    const groups = here.map((_, at) => here.slice(at, at + count)).filter(({ length }) => length === count);
    const found = groups.find((group) => group.every((seat) => !seat.isDisabled && seat["kind"] !== "accessible"));
    if (found) return found;
  }
  throw new Error(`There are no ${count} seats side by side.`);
}

/** Makes the missing choices on the current stage and goes to the next; existing choices are kept. */
async function settle(relay: Relay, { stage, items, state = {} }: Spec): Promise<void> {
  const { selected, selectedList = [], quantities = [], booking } = state;
  if (stage === "seat" && selectedList.length !== count) {
    for (const { id } of selectedList) await relay.use("select", { itemId: id }, "Letting go, to choose as many as wished.");
    for (const { id } of seats(items)) await relay.use("select", { itemId: id }, "Side by side, as near as wished.");
  } else if (stage === "ticket") {
    const wanted = booking?.seats?.length ?? count;
    const chosen = quantities.filter((each) => each.count > 0);
    if (chosen.reduce((sum, each) => sum + each.count, 0) !== wanted) {
      for (const { item } of chosen) await relay.use("setQuantity", { typeId: item.id, quantity: 0 }, "Counting anew.");
      const { id } = best(items, ({ name }) => says(name));
      await relay.use("setQuantity", { typeId: id, quantity: wanted }, `One for each seat.`);
    }
  } else if (!["seat", "confirm"].includes(stage) && !selected) {
    const inTime = ({ time }: Item) => String(time) >= from && String(time) < to;
    const { id } = best(items, ({ title, genre }) => says(title) || says(genre), ({ weekday }) => says(weekday), inTime);
    await relay.use("select", { itemId: id }, `Fits "${sentence}" best.`);
  }
  await relay.use("next", {}, stage === "confirm" ? "All is as wished: booking." : `The ${stage} is settled.`);
}

/** A page without a booking: uses the tool in the request, such as 'switch {"on": true}', or lists the tools. */
async function other(relay: Relay, { title = "" }: Spec, tools: Tool[]): Promise<number> {
  const [, name = "", params = "{}"] = /^(\S+)\s*(\{.*\})?$/s.exec(wish.trim()) ?? [];
  if (tools.some((tool) => tool.name === name)) {
    const { result = "done" } = await relay.use(name, JSON.parse(params) as object, "The person asked for it.");
    return console.log(`${name}: ${JSON.stringify(result)}`), 0;
  }
  if (tools.length === 0) return console.log(`"${title}" has no tools now; open a page that offers some.`), 2;
  console.log(`The page "${title}" has no booking. Name one of its tools, with params as JSON:`);
  for (const tool of tools) console.log(`  ${tool.name} (${Object.keys(tool.parameters).join(", ")}): ${tool.description}`);
  relay.say("I book movie tickets, and there is no booking on this page.");
  return 2;
}

async function run(relay: Relay): Promise<number> {
  for (let step = 0; step < 30; step += 1) {
    // If the page is missing, a seat was taken or the user was faster: read the page again and continue.
    const again = (why: Error) => (console.log(why.message), sleep(1000));
    const shown = await relay.look().catch(again);
    if (!shown) continue;
    const { booking } = shown.uiSpec.state ?? {};
    if (!booking) return other(relay, shown.uiSpec, shown.toolSchema);
    if (booking.status === "cancelled") return console.log("The booking was cancelled."), 1;
    if (booking.status === "booked") return console.log(`${step === 0 ? "Already booked" : "Booked"}: ${booking.code}`), 0;
    await settle(relay, shown.uiSpec).catch(again);
  }
  return console.log("It came to no end."), 1;
}

const relay = new Relay();
await relay.join();
process.exitCode = await run(relay).catch((why: Error) => (console.log(why.message), 1));
relay.leave();
