// A recording is sent as an attachment, or transcribed.
import type { RemoteAgent } from "@gangway/client";
import type { ConversationState } from "@gangway/kit/chat/conversation.svelte.js";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { DictationState } from "./dictation.svelte.js";
import { RecorderState } from "./recorder.svelte.js";
import type { UploadsState } from "./uploads.svelte.js";

export class VoiceState {
  readonly recorder = new RecorderState();
  readonly dictation = new DictationState();
  readonly #agent: RemoteAgent;
  readonly #chat: ConversationState;
  readonly #uploads: UploadsState;
  /** True while a recording is on its way. */
  busy = $state(false);
  /** Why it did not arrive. */
  #failed: string | null = $state(null);

  constructor(
    agent: RemoteAgent,
    chat: ConversationState,
    uploads: UploadsState,
  ) {
    this.#agent = agent;
    this.#chat = chat;
    this.#uploads = uploads;
  }

  get problem(): string | null {
    return this.#failed ?? this.dictation.problem;
  }

  /** Sends the recording, with what stands in the box; says whether it went. */
  async send(text: string): Promise<boolean> {
    const { recording } = this.recorder;
    if (!recording || this.busy) return false;
    this.busy = true;
    this.#failed = null;
    const upload = this.#uploads.add([recording])[0];
    await upload?.done;
    const there = upload?.path != null;
    const sent = there && (await this.#chat.send(text));
    if (sent) this.recorder.discard();
    else {
      this.#failed = upload?.problem ?? null;
      // It is kept as a recording, not as an attachment too.
      if (upload) this.#uploads.remove(upload);
    }
    this.busy = false;
    return sent;
  }

  /** The transcript of the recording, which is then discarded. */
  async transcribe(): Promise<string> {
    const { recording } = this.recorder;
    if (!recording || this.busy) return "";
    this.busy = true;
    const transcript = { text: "" };
    const failure = await failureOf(async () => {
      const { text } = await this.#agent.transcribe(recording);
      transcript.text = text.trim();
    });
    this.#failed = failure?.message ?? null;
    if (transcript.text) this.recorder.discard();
    else this.#failed ??= "No speech was found in the recording.";
    this.busy = false;
    return transcript.text;
  }

  dispose(): void {
    this.recorder.dispose();
    this.dictation.dispose();
  }
}
