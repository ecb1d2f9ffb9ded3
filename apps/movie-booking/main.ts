// Puts the page together: the booking, the chat, and the relay that lets agents in.
import {
  emitToAgent,
  getAgentConfig,
  getAgentContext,
} from "./__gangway/agent.js";
import { createHost, type Host } from "./__gangway/host.js";
import { Backend } from "./backend.ts";
import { drawChanges } from "./changes.ts";
import { Chat } from "./chat.ts";
import { drawChoices } from "./choices.ts";
import type { Command } from "./commands.ts";
import { button, find, keepFocus, make } from "./elements.ts";
import { drawNarrow } from "./narrow.ts";
import type { Entry } from "./history.ts";
import { Flow, type By, type Kept } from "./flow.ts";
import { LOOKS, STAGES, type Stage, type UiSpec } from "./spec.ts";
import { toolsOf } from "./tools.ts";

// How often seats are looked at again: others book too.
const LOOK_MS = 10_000;

const REPLAYED = "This is a replay: nothing can be done in it.";

/** What stands above a booking that is made, and one that was cancelled. */
const DONE = { booked: "See you there", cancelled: "The booking is cancelled" };

interface Reported {
  uiSpec: UiSpec;
  messageHistory: Entry[];
}

const asked = new URLSearchParams(location.search);
// Two pages of one name would take each other's place, so each launch has its own.
const launch = asked.get("launch")?.split(".")[0];
const session =
  asked.get("session") ??
  getAgentConfig<string | null>("session", null) ??
  (launch === undefined ? "default" : `movie-booking-${launch.slice(-8)}`);
const keptAs = `movie-booking.${session}`;
/** Only in the replay of a session, where the page shows what it reported and does nothing. */
const replay = getAgentContext()?.replay;
/** What it reported; in a replay that is all it shows. */
let reported: Reported | null = null;
let shownStage: Stage | null = null;
/** The last event sent to the agent that launched the page. */
let toldOf: string | null = null;

const flow = new Flow(
  new Backend((path, init) => fetch(path, init)),
  (source) => changed(source),
);
const chat = new Chat((text) => {
  if (replay) return say(REPLAYED);
  flow.say("user", text);
  host.userMessage(text, flow.booking.stage);
});

const host: Host = createHost({
  session,
  // What can be done depends on the stage.
  tools: () =>
    toolsOf(flow.spec, (command, reason) => flow.run(command, "agent", reason)),
  snapshot: () => ({
    uiSpec: flow.spec,
    messageHistory: flow.history.entries,
    historyTotal: flow.history.total,
  }),
  onSession: {
    start: ({ sessionId, setup }) => flow.startStudy(sessionId, setup),
    end: () => flow.endStudy(),
    reset: () => flow.reset({ forget: true }),
  },
});

function say(words: string, problem = false): void {
  const status = find("status");
  status.textContent = words;
  status.classList.toggle("problem", problem);
}

function act(command: Command): void {
  say("");
  if (replay) return say(REPLAYED);
  flow.run(command, "user").catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error), true);
  });
}

function shownSpec(): UiSpec | null {
  return reported?.uiSpec ?? flow.spec;
}

function changed(source: By | "stage"): void {
  keep();
  draw(source);
  host.update(source);
}

function draw(source: By | "stage"): void {
  const spec = shownSpec();
  const entries = reported?.messageHistory ?? flow.history.entries;
  chat.draw(entries);
  if (!spec) return;
  const first = shownStage === null;
  const turned = spec.stage !== shownStage && !first;
  const { status } = spec.state.booking;
  const booked = status !== "open";
  shownStage = spec.stage;
  keepFocus(find("layout"), () => {
    drawTrail(spec);
    find("stage-title").textContent =
      status === "open" ? spec.title : DONE[status];
    find("stage-about").textContent = booked ? "" : (spec.description ?? "");
    find("stage").dataset["stage"] = spec.stage;
    drawNarrow(find("narrow"), spec, act);
    drawChanges(find("changes"), spec.modification, entries, act);
    drawChoices(find("choices"), spec, act);
    drawWays(spec);
  });
  const lost = document.activeElement === document.body;
  // Focus moves only for the user's own actions, not for an agent's.
  if ((turned && source === "user") || (turned && lost))
    find("stage-title").focus();
  if (booked) say("");
  else if (turned && source !== "user") say(`Now: ${spec.title}`);
  if (source === "agent" && !chat.shown) {
    const last = flow.history.entries.at(-1);
    if (last) say(`Agent: ${last.text}`, last.ok === false);
  }
  tellBooked();
}

function drawTrail(spec: UiSpec): void {
  const { chosen, step } = spec.meta;
  const parts = STAGES.map((stage, index) => {
    const current = index + 1 === step;
    return make(
      "li",
      {
        class: index + 1 < step ? "past" : current ? "here" : "ahead",
        "aria-current": current ? "step" : undefined,
      },
      make("span", { class: "name" }, LOOKS[stage].name),
      make("span", { class: "value" }, chosen[stage] ?? ""),
    );
  });
  find("trail").replaceChildren(...parts);
}

function drawWays(spec: UiSpec): void {
  const booked = spec.state.booking.status !== "open";
  const [prev, next] = [
    find<HTMLButtonElement>("prev"),
    find<HTMLButtonElement>("next"),
  ];
  prev.hidden = spec.meta.step === 1 || booked;
  next.hidden = false;
  next.textContent = booked
    ? "Book another"
    : spec.stage === "confirm"
      ? "Book now"
      : "Next";
  next.setAttribute("aria-disabled", String(!booked && !spec.meta.canGoOn));
  countDown();
}

/** What is missing, or how long the seats are held. */
function countDown(): void {
  const { booking } = flow;
  const spec = shownSpec();
  if (!spec) return;
  const { hold, booked } = booking;
  const left = hold && !booked ? Math.max(0, hold.expiresAt - Date.now()) : 0;
  const seconds = Math.round(left / 1000);
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const held = seconds > 0 ? `Seats held for ${clock}` : "";
  const missing = booked ? "" : (spec.meta.missing ?? "");
  find("missing").textContent = [missing, held].filter(Boolean).join(" · ");
}

/** An agent that launched the page gets it as an app event. */
function tellBooked(): void {
  const { booked } = flow.booking;
  if (!booked) return;
  const { bookingId, code, seats, totalCents, cancelled } = booked;
  const told = `${bookingId} ${cancelled ? "cancelled" : "booked"}`;
  if (told === toldOf) return;
  toldOf = told;
  const telling = cancelled
    ? emitToAgent("booking-cancelled", { bookingId, code })
    : emitToAgent("ticket-booked", { bookingId, code, seats, totalCents });
  telling.catch(() => undefined);
}

/** Uses the cinema of the study session that is open, also where it began or ended while the page was away. */
function followStudy(): void {
  const { studySession, status } = host;
  if (status !== "live" || studySession === flow.study) return;
  const moved: Promise<unknown> =
    studySession === null ? flow.endStudy() : flow.startStudy(studySession);
  moved.catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error), true);
  });
}

function drawPresence(): void {
  const { status, agents } = host;
  const words = replay
    ? "Replay"
    : status === "live"
      ? agents === 0
        ? launch === undefined
          ? `No agent connected. Agents join session “${session}”.`
          : "The agent of your chat can use this page."
        : agents === 1
          ? "1 agent connected"
          : `${agents} agents connected`
      : status === "closed"
        ? "Agents cannot see this page."
        : "Connecting to agents…";
  const presence = find("presence");
  presence.textContent = words;
  presence.dataset["state"] = status === "live" && agents > 0 ? "here" : status;
  find("take-back").hidden = status !== "closed" || replay !== undefined;
  const study = find("study");
  study.hidden = host.studySession === null;
  study.textContent =
    host.studySession === null ? "" : `Study ${host.studySession}`;
}

function keep(): void {
  try {
    sessionStorage.setItem(keptAs, JSON.stringify(flow.kept));
  } catch {
    // Without storage the booking lasts as long as the page.
  }
}

function kept(): Kept | null {
  try {
    return JSON.parse(sessionStorage.getItem(keptAs) ?? "null") as Kept | null;
  } catch {
    return null;
  }
}

async function start(before: Kept | null): Promise<void> {
  try {
    await flow.start(before);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
    find("choices").replaceChildren(
      button(
        "again",
        { class: "primary" },
        () => void start(before),
        "Try again",
      ),
    );
  }
}

const theme = getAgentConfig<unknown>("theme", "auto");
if (theme === "light" || theme === "dark") {
  document.documentElement.dataset["theme"] = theme;
}
host.on("status", (_status, error) => {
  drawPresence();
  followStudy();
  if (error) say(error.message, true);
});
host.on("presence", drawPresence);
host.on("session", drawPresence);
host.on("message", (text) => flow.say("agent", text));
host.on("agentStatus", (status) =>
  say(status === "" ? "" : `Agent: ${status}`),
);
find("take-back").addEventListener("click", () => host.reconnect());
find("prev").addEventListener("click", () => act({ tool: "prev", params: {} }));
find("next").addEventListener("click", () => {
  if (flow.booking.booked) void flow.reset();
  else act({ tool: "next", params: {} });
});
setInterval(() => {
  countDown();
  // A server that is away for a moment is asked again by the next one.
  flow.tick(Date.now()).catch(() => undefined);
}, 1000);
setInterval(() => {
  if (!document.hidden) flow.lookAgain().catch(() => undefined);
}, LOOK_MS);
drawPresence();
if (replay) {
  replay.onState((state) => {
    reported = state as Reported | null;
    draw("stage");
  });
} else void start(kept());
