// What the server has beside every app that agents can drive.
export * from "@gangway/client/host";
