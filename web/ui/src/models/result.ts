// The result of a test prompt, as text.
import type { ChatUsage, GangwayError } from "@gangway/client";
import { count, rate, seconds } from "@gangway/kit/parts/amounts.js";
import type { Pace } from "./trial.svelte.js";

/** How a try went, once it is over. */
export function resultInWords(trial: {
  running: boolean;
  ended: string | null;
  usage: ChatUsage | null;
  pace: Pace | null;
  speed: number | null;
}): string {
  const { ended, usage, pace, speed } = trial;
  if (trial.running || !pace) return "";
  const parts: string[] = [];
  if (ended === "stopped") parts.push("stopped");
  if (ended === "length") parts.push("cut off at the maximum length");
  if (ended === "tool_calls") parts.push("ended with a tool call");
  if (usage && usage.output > 0) parts.push(count(usage.output, "token"));
  if (speed !== null) parts.push(`${rate(speed)} tokens per second`);
  if (pace.firstMs !== null) {
    parts.push(`first token after ${seconds(pace.firstMs)}`);
  }
  return parts.join(" · ");
}

/** The error, with the provider's message if it is not part of it. */
export function errorInWords({ message, details }: GangwayError): string {
  if (!details || message.includes(details)) return message;
  return `${message} The provider said: ${details}`;
}
