// One embed: its agent, its features, and its messages to the parent page.
import {
  GangwayError,
  RemoteAgent,
  type FrameInfo,
  type FeedFrame,
  type AgentState,
} from "@gangway/client";
import { focusComposer } from "@gangway/kit/parts/focus.js";
import { freshId } from "@gangway/kit/parts/ids.js";
import {
  ConversationState,
  type Source,
} from "@gangway/kit/chat/conversation.svelte.js";
import { failureOf } from "@gangway/kit/parts/failure.js";
import type { EmbedAddress } from "./address.js";
import { forget, keep, kept } from "./keep.js";
import { wear } from "./look.js";
import { Parent } from "./parent.js";
import { UploadsState } from "./uploads.svelte.js";
import { VoiceState } from "./voice.svelte.js";
import { endedWords } from "./words.js";

// How long to wait for a server that is away, before the first exchange.
const RETRY_MS = 2_000;

export class EmbedState {
  readonly #address: EmbedAddress;
  #parent: Parent | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ready = false;
  /** The state that the parent page knows. */
  #reported: AgentState | null = null;
  /** A message that may or may not have arrived keeps its key when it is sent again. */
  #unsure: { what: string; key: string } | null = null;

  info: FrameInfo | null = $state.raw(null);
  agent: RemoteAgent | null = $state.raw(null);
  readonly chat = new ConversationState();
  uploads: UploadsState | null = $state.raw(null);
  voice: VoiceState | null = $state.raw(null);
  state: AgentState = $state("idle");
  /** Why the agent is gone. */
  ended: string | null = $state(null);
  #failure: GangwayError | null = $state.raw(null);

  constructor(address: EmbedAddress) {
    this.#address = address;
  }

  /** Why there is no chat to show. */
  get failure(): GangwayError | null {
    return this.#failure ?? this.chat.failure;
  }

  get endedWords(): string {
    return endedWords(this.ended ?? "");
  }

  /** Exchanges the token of the URL, or continues with the stored one after a reload. */
  async enter(): Promise<void> {
    clearTimeout(this.#timer);
    const { agentId, token, features } = this.#address;
    let info = kept(agentId);
    this.#failure = await failureOf(async () => {
      if (token !== null) {
        const request = { feature_flags: features };
        info = await new RemoteAgent(agentId, token).exchange(request);
        keep(info);
      }
    });
    if (this.#failure?.retryable) {
      this.#timer = setTimeout(() => void this.enter(), RETRY_MS);
    } else if (!this.#failure) {
      if (info) this.#begin(info);
      else {
        const message = "The URL has no token.";
        this.#failure = new GangwayError("missing_token", message);
      }
    }
  }

  /** Reports the preferred height to the parent page. */
  resized(height: number): void {
    if (this.#ready) this.#parent?.tell("resize", { height });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.chat.dispose();
    this.voice?.dispose();
    this.#parent?.dispose();
  }

  #begin(info: FrameInfo): void {
    const agent = new RemoteAgent(info.agent_id, info.frame_token);
    const { file_upload, voice_mic } = info.feature_flags;
    this.info = info;
    this.agent = agent;
    this.state = info.state ?? "complete";
    if (file_upload || voice_mic) {
      this.uploads = new UploadsState(agent, info.upload);
      if (voice_mic) {
        this.voice = new VoiceState(agent, this.chat, this.uploads);
      }
    }
    this.#parent = Parent.of(this.#address.parent, info.parents, {
      send: (text) => void this.chat.say(text),
      style: wear,
      focus: () => focusComposer(),
    });
    this.chat.attach(this.#source(agent));
  }

  #source(agent: RemoteAgent): Source {
    return {
      send: (text) => this.#send(agent, text),
      stop: () => agent.stop(),
      answer: (questionId, answer) => agent.answer(questionId, answer),
      history: (page) => agent.history(page),
      follow: ({ onFrame, onState }) =>
        agent.events({
          onFrame: (frame) => {
            onFrame(frame);
            this.#tell(frame);
          },
          onState: (state, error) => {
            onState(state, error);
            if (!error) return;
            forget(agent.agentId);
            this.#parent?.tell("error", { message: error.message });
          },
          onAgentState: (state) => {
            if (state !== this.#reported)
              this.#parent?.tell("state", { state });
            this.state = this.#reported = state;
          },
          onEnded: (reason) => {
            this.ended = reason;
            // An unused microphone is turned off.
            this.voice?.dispose();
            this.#parent?.tell("ended", { reason });
          },
        }),
    };
  }

  async #send(agent: RemoteAgent, text: string): Promise<void> {
    const attachments = this.uploads?.paths ?? [];
    const what = JSON.stringify([text, attachments]);
    const key = this.#unsure?.what === what ? this.#unsure.key : freshId();
    this.#unsure = { what, key };
    const more = attachments.length > 0 ? { attachments } : {};
    await agent.send({ text, ...more }, key);
    this.#unsure = null;
    this.uploads?.sent(attachments);
  }

  /** Live events; those in a snapshot are older. */
  #tell(frame: FeedFrame): void {
    const parent = this.#parent;
    if (frame.type === "snapshot" && !this.#ready) {
      this.#ready = true;
      parent?.tell("ready");
    } else if (frame.type === "user.message" && frame.showInChat) {
      parent?.tell("message", { role: "person", text: frame.prompt });
    } else if (frame.type === "assistant.message" && frame.content) {
      parent?.tell("message", { role: "agent", text: frame.content });
    } else if (frame.type === "session.question") {
      const { questionId: question_id, question: text, options } = frame;
      parent?.tell("question", { question_id, text, options });
    } else if (frame.type === "session.error") {
      parent?.tell("error", { message: frame.message });
    }
  }
}
