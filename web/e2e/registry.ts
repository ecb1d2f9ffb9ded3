// A registry of MCP servers on the wire of the public one, and remembers what it was asked.
import { json, Provider, type Asked } from "./providers.js";
import type { ServerResponse } from "node:http";

/** The version that `scripts/setup.sh mcp-servers` installs too. */
const VERSION = "2026.8.31";

/** A server with a package of npm. */
function listed(name: string, more: object, identifier: string): object {
  const server = {
    name,
    version: VERSION,
    packages: [
      {
        registryType: "npm",
        identifier,
        version: VERSION,
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "stdio" }],
        environmentVariables: [
          { name: "PLANTED_KEY", isRequired: true, isSecret: true },
        ],
      },
    ],
    ...more,
  };
  const official = { status: "active", isLatest: true };
  const _meta = { "io.modelcontextprotocol.registry/official": official };
  return { server, _meta };
}

const SERVERS = [
  listed(
    "io.test/everything",
    {
      title: "Everything",
      description: "Shows all that a server can do. <b>Bold</b>, is it?",
      repository: { url: "https://github.com/example/everything" },
      websiteUrl: "javascript:alert(1)",
    },
    "@modelcontextprotocol/server-everything",
  ),
  listed(
    "io.test/missing",
    { title: "Missing", description: "Its package is not there." },
    "@modelcontextprotocol/there-is-no-such-package",
  ),
];

export class FakeRegistry extends Provider {
  // eslint-disable-next-line @typescript-eslint/require-await
  protected async answer(asked: Asked, response: ServerResponse) {
    if (asked.path.startsWith("/v0.1/servers")) {
      json(response, { servers: SERVERS, metadata: { count: 2 } });
    } else json(response, { title: "Not Found", status: 404 }, 404);
  }
}
