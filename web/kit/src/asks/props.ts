// What the card of a request passes on: to the component of its kind, and from there to the frame.
import type { AnswerAsk, AskerInfo, AskRequest } from "@gangway/client";

export interface Choice {
  words: string;
  title?: string;
  primary?: boolean;
  disabled?: boolean;
  /** The id of the form that it submits. */
  form?: string;
  onchoose?: () => void;
}

export interface Framed {
  /** Whether it stands among other things, and not in a dialog or window of its own. */
  boxed: boolean;
  sending: boolean;
  problem: string | null;
  /** How many requests come after this one. */
  others: number;
}

export interface KindProps<Type> {
  asker: AskerInfo;
  request: Extract<AskRequest, { type: Type }>;
  frame: Framed;
  /** Null dismisses the request. */
  answer: (answer: AnswerAsk | null) => void;
}
