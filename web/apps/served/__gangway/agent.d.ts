// What the server has beside every app, for those that are written in TypeScript.
export * from "@gangway/client/agent";
