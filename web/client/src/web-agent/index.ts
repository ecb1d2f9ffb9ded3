// What a page written in TypeScript may import.
export { AgentApiError } from "./errors.js";
export type * from "./api.js";
