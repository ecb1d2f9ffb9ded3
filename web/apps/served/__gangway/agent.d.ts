// What the server has beside every app, for those that are written in TypeScript.
export * from "../../../client/src/context/agent.js";
