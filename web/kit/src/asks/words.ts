// What requests are called, and where they are shown.
import type { AskDecision, AskerInfo, AskInfo } from "@gangway/client";

export const DECISIONS: Record<AskDecision, string> = {
  once: "Allow once",
  always: "Always allow",
  deny: "Deny",
};

export const KINDS: Record<AskerInfo["kind"], string> = {
  site: "site",
  server: "MCP server",
  app: "app",
  applet: "applet",
  agent: "agent",
};

export function nameOf(asker: AskerInfo): string {
  switch (asker.kind) {
    case "site":
      return asker.origin;
    case "server":
      return asker.id;
    default:
      return asker.name;
  }
}

export function headingOf({ asker, request }: AskInfo): string {
  if (request.type === "permission") return "Permission request";
  const what = request.type === "elicitation" ? "Question" : "Request";
  return `${what} from ${nameOf(asker)}`;
}

/** What is asked, in one line that begins with who asks. */
export const WANTS: Record<AskInfo["request"]["type"], string> = {
  permission: "requests access to Gangway",
  elicitation: "has a question",
  action: "asks for permission",
  message: "wants to send a message to the agent",
};

/** The session whose chat shows a request itself. */
export function sessionOf({ request }: AskInfo): string | null {
  return request.type === "message" ? request.sessionId : null;
}

/** Whether work in Gangway waits for the answer; sites can ask at any time. */
export function opensItself({ request }: AskInfo): boolean {
  return request.type === "elicitation" || request.type === "action";
}
