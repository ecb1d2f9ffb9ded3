// When the chat's agent asks before it calls tools.
import type {
  ApprovalList,
  ApprovalPolicy,
  GangwayError,
  Tools,
} from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";

export class ApprovalsState {
  readonly #tools: Tools;
  list: ApprovalList | null = $state.raw(null);
  error: GangwayError | null = $state.raw(null);

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      this.list = await this.#tools.approvals(signal);
    });
  }

  async setPolicy(server: string, policy: ApprovalPolicy): Promise<void> {
    const error = await failureOf(() =>
      this.#tools.setServerApproval(server, policy),
    );
    await this.load();
    this.error ??= error;
  }

  /** Lets the policy of the tool's server decide again. */
  async forget(tool: string): Promise<void> {
    const error = await failureOf(() => this.#tools.setToolApproval(tool));
    await this.load();
    this.error ??= error;
  }
}
