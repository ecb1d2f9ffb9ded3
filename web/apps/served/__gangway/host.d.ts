// What the server has beside every app that agents can drive.
export * from "../../../client/src/host/index.js";
