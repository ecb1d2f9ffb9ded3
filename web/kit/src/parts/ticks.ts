// Messages of the server name settings and commands in backticks.

export interface Span {
  text: string;
  code: boolean;
}

/** The message in spans; a backtick without a partner stays as it is. */
export function splitTicks(message: string): Span[] {
  return message
    .split(/(`[^`]+`)/)
    .filter((text) => text !== "")
    .map((text) =>
      /^`[^`]+`$/.test(text)
        ? { text: text.slice(1, -1), code: true }
        : { text, code: false },
    );
}
