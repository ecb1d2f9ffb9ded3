// Lets agents see and use a page: what a page may import from @gangway/client/host.
export { createHost, Host } from "./host.js";
export type { HostEvents, HostOptions, StudySession } from "./options.js";
export { tool } from "./tools.js";
export type {
  AnyTool,
  RunContext,
  Tool,
  ToolEntry,
  Tools,
  ToolSource,
} from "./tools.js";
export type { Parameter, Parameters, ParamsOf, ValueOf } from "./parameters.js";
export type { HistoryEntry, Snapshot } from "./snapshot.js";
export { ToolError } from "./wire.js";
export type { ProblemCode, Source } from "./wire.js";
export type { Call, DoneCall } from "./calls.js";
