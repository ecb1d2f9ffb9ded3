// Books movie tickets from a sentence, by rules: node agent.ts "two seats for a comedy on Saturday evening, near the front"
// Needs Node 22.18 or newer and nothing else; GANGWAY_URL and GANGWAY_SESSION say where the booking page is.
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

type Item = { id: string; isDisabled?: boolean; [field: string]: unknown };
type State = { selectedList?: string[]; booking?: { code: string } };
type Spec = { stage: string; items: Item[]; state: State };
type Payload = { uiSpec: Spec; code?: string; message?: string };
const { GANGWAY_URL = "http://127.0.0.1:3000", GANGWAY_KEY = "", GANGWAY_SESSION = "default" } = process.env;
const COUNTS = ["", "one", "two", "three", "four", "five", "six"];
const DAYPARTS = { morning: ["06", "12"], afternoon: ["12", "17"], evening: ["17", "21:30"], night: ["20:30", "24"] };
const sentence = (process.argv[2] ?? "one seat").toLowerCase();
const says = (value: unknown) => sentence.includes(String(value).toLowerCase());
const count = Number(/\d+/.exec(sentence)?.[0]) || (sentence.split(/\W+/).map((word) => COUNTS.indexOf(word)).find((n) => n > 0) ?? 1);
const [from = "", to = ""] = Object.entries(DAYPARTS).find(([part]) => says(part))?.[1] ?? ["00", "24"];

class Relay {
  #last = 0;
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

  /** Uses a tool and gives back what is shown afterwards. */
  async use(toolName: string, params: object, reason: string): Promise<Spec> {
    console.log(`${toolName} ${JSON.stringify(params)}: ${reason}`);
    return (await this.ask("tool.call", { toolName, params, reason })).uiSpec;
  }

  look = async () => (await this.ask("snapshot.get", {})).uiSpec ?? Promise.reject(new Error("The page shows nothing yet."));
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

/** Settles the stage that is shown, and goes on to the next. */
async function settle(relay: Relay, { stage, items, state }: Spec): Promise<Spec> {
  if (stage === "seat") {
    for (const itemId of state.selectedList ?? []) await relay.use("select", { itemId }, "Letting go, to choose anew.");
    for (const { id } of seats(items)) await relay.use("select", { itemId: id }, "Side by side, as near as wished.");
  } else if (stage === "ticket") {
    for (const { id } of items) await relay.use("setQuantity", { typeId: id, quantity: 0 }, "Counting anew.");
    const { id } = best(items, ({ name }) => says(name));
    await relay.use("setQuantity", { typeId: id, quantity: count }, `${count} wanted.`);
  } else if (stage !== "confirm") {
    const inTime = ({ time }: Item) => String(time) >= from && String(time) < to;
    const { id } = best(items, ({ title, genre }) => says(title) || says(genre), ({ weekday }) => says(weekday), inTime);
    await relay.use("select", { itemId: id }, `Fits "${sentence}" best.`);
  }
  return relay.use("next", {}, stage === "confirm" ? "All is as wished: booking." : `The ${stage} is settled.`);
}

const relay = new Relay();
await relay.join();
let booking: State["booking"];
for (let step = 0; !booking && step < 30; step += 1) {
  // A page that is not there yet, a seat that is gone, a person who was faster: look again and go on from there.
  const shown = await relay.look().then((spec) => settle(relay, spec)).catch((why: Error) => (console.log(why.message), sleep(1000)));
  booking = shown?.state.booking;
}
console.log(booking ? `Booked: ${booking.code}` : "It came to no end.");
process.exitCode = booking ? 0 : 1;
relay.leave();
