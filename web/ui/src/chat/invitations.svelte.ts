// The external agents of one chat: invitations, and who is connected.
import type {
  CreatedInvitation,
  GangwayError,
  InvitationInfo,
  Sessions,
} from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";

/** Where the commands come from: the server serves its example agents as files. */
export const LANGUAGES = {
  python: "Python",
  javascript: "JavaScript",
  rust: "Rust",
} as const;

export type Language = keyof typeof LANGUAGES;

export class InvitationsState {
  readonly #sessions: Sessions;
  readonly sessionId: string;
  all: InvitationInfo[] = $state.raw([]);
  /** The names of the connected agents. */
  agents: string[] = $state.raw([]);
  /** The new invitation, as long as its token is shown. */
  created: CreatedInvitation | null = $state.raw(null);
  problem: GangwayError | null = $state.raw(null);
  busy = $state(false);

  constructor(sessions: Sessions, sessionId: string) {
    this.#sessions = sessions;
    this.sessionId = sessionId;
  }

  async load(signal?: AbortSignal): Promise<void> {
    const problem = await failureOf(async () => {
      const listed = await this.#sessions.invitations(this.sessionId, signal);
      this.all = listed.invitations;
      this.agents = listed.agents;
    });
    if (problem && !signal?.aborted) this.problem = problem;
  }

  async invite(label: string, hours: number): Promise<void> {
    await this.#attempt(async () => {
      const expiresIn = hours * 3600;
      const request = label.trim() ? { label, expiresIn } : { expiresIn };
      this.created = await this.#sessions.invite(this.sessionId, request);
    });
  }

  async revoke(id: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#sessions.revokeInvitation(this.sessionId, id);
      if (this.created?.invitation.invitationId === id) this.created = null;
    });
  }

  /** The command line that starts an example agent with the new token. */
  command(language: Language): string {
    const { sessionId: session } = this;
    const url = this.#sessions.baseUrl || location.origin;
    const token = this.created?.token ?? "";
    const env = `GANGWAY_URL=${url} GANGWAY_SESSION=${session} GANGWAY_KEY=${token}`;
    switch (language) {
      case "python":
        return `curl -fsS ${url}/examples/agent.py | ${env} python3 - REQUEST`;
      case "javascript":
        // Node 20 has WebSocket behind this option, and newer versions ignore it.
        return `curl -fsS ${url}/examples/agent.mjs | ${env} node --experimental-websocket --input-type=module - REQUEST`;
      case "rust":
        return `${env} cargo run -p gangway --example agent -- REQUEST`;
    }
  }

  async #attempt(action: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.problem = await failureOf(action);
    if (this.problem === null) await this.load();
    this.busy = false;
  }
}
