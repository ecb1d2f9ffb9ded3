// What an embed keeps for a reload: the frame's own token, and what came with it.
import type { FrameInfo } from "@gangway/client";

// A frame of another site may have no storage at all: then it lives as long as the page.

export function keep(info: FrameInfo): void {
  try {
    sessionStorage.setItem(keyOf(info.agent_id), JSON.stringify(info));
  } catch {
    // Forbidden or full.
  }
}

export function kept(agentId: string): FrameInfo | null {
  try {
    const text = sessionStorage.getItem(keyOf(agentId));
    return text === null ? null : (JSON.parse(text) as FrameInfo);
  } catch {
    return null;
  }
}

export function forget(agentId: string): void {
  try {
    sessionStorage.removeItem(keyOf(agentId));
  } catch {
    // There was nothing then.
  }
}

function keyOf(agentId: string): string {
  return `gangway.embed.${agentId}`;
}
