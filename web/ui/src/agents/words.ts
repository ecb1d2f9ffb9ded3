// Texts of the Agents page, and the snippet for embedding an agent.
import type { CreatedAgent, Features, RemoteAgentInfo } from "@gangway/client";
import { STATES } from "../embed/words.js";
import { whenWas } from "@gangway/kit/parts/when.js";

export const FEATURES: Record<keyof Features, string> = {
  file_upload: "Files",
  context_usage: "Context meter",
  voice_mic: "Microphone",
};

/** The state of an agent, in one or two words. */
export function stateOf({ alive, state, attached }: RemoteAgentInfo): string {
  if (!alive || state === null) return "Ended";
  // Its state is unknown until its runner has reconnected.
  return attached ? STATES[state] : "Not connected";
}

export function detailOf(agent: RemoteAgentInfo): string {
  const { created_at, last_active_at, ended_at, ended_reason } = agent;
  if (agent.alive) {
    return `Since ${whenWas(created_at)}, last active ${whenWas(last_active_at)}`;
  }
  const when = whenWas(ended_at ?? last_active_at);
  return ended_reason ? `Ended ${when}: ${ended_reason}` : `Ended ${when}`;
}

export function featuresOf(flags: Features): string {
  const on = (Object.keys(FEATURES) as (keyof Features)[]).filter(
    (name) => flags[name],
  );
  return on.map((name) => FEATURES[name]).join(", ");
}

/** What to put into a page, so that the chat stands in it. */
export function snippetOf({ embed_url }: CreatedAgent): string {
  const { origin } = new URL(embed_url, location.href);
  return `<div id="chat" style="height: 32rem"></div>
<script src="${escaped(origin)}/embed.js"></script>
<script>
  Gangway.embed({
    url: ${inScript(embed_url)},
    container: "#chat",
  });
</script>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
}

/** A string that ends neither itself nor its script. */
function inScript(text: string): string {
  return JSON.stringify(text).replace(/</g, "\\u003c");
}
