// What an embed and the parent page say to each other.
import type { AgentState } from "../generated/wire.js";

/** Messages of an embed to the parent page, by name. */
export interface EmbedEvents {
  /** The chat can be used. */
  ready: object;
  /** How high the frame would have to be to show everything, in pixels. */
  resize: { height: number };
  state: { state: AgentState };
  message: { role: "agent" | "person"; text: string };
  question: { question_id: string; text: string; options: string[] };
  ended: { reason: string };
  error: { message: string };
}

export type EmbedEventName = keyof EmbedEvents;

export type FromEmbed = {
  [Name in EmbedEventName]: {
    source: "gangway";
    type: Name;
  } & EmbedEvents[Name];
}[EmbedEventName];

/** What a page may change about the look; anything that is no such value is left out. */
export interface EmbedStyle {
  theme?: "light" | "dark" | "auto";
  /** Any colour of CSS. */
  accent?: string;
  /** Names of fonts, as in CSS. */
  font?: string;
  /** The size of the text, 12px to 22px. */
  size?: string;
  /** How round corners are, 0px to 24px. */
  radius?: string;
}

export type ToEmbed = { target: "gangway" } & (
  | { type: "send"; text: string }
  | { type: "style"; variables: EmbedStyle }
  | { type: "focus" }
);
