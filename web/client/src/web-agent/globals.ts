// Imported for its types alone: what Gangway's script, its extension, or a browser puts on the window.
import type { Agent, AI, ModelContext, ReadyDetail } from "./api.js";

declare global {
  interface Window {
    /** Absent where there is no Gangway. */
    readonly ai?: AI;
    /** Absent where there is no Gangway. */
    readonly agent?: Agent;
  }

  interface Document {
    readonly modelContext?: ModelContext;
  }

  interface Navigator {
    /** The same as on the document. */
    readonly modelContext?: ModelContext;
  }

  interface WindowEventMap {
    "agent-ready": CustomEvent<ReadyDetail>;
    "ai-ready": CustomEvent<ReadyDetail>;
  }
}
