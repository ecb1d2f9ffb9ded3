// Why something was not done, for people and agents alike.

export type RefusedCode =
  "INVALID_PARAMS" | "NO_ACTIVE_SPEC" | "TOOL_EXECUTION_FAILED";

export class Refused extends Error {
  readonly code: RefusedCode;

  constructor(code: RefusedCode, message: string) {
    super(message);
    this.name = "Refused";
    this.code = code;
  }
}
