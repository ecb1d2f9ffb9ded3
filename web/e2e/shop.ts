// Opens the shop under apps/, as a process of its own on an origin of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SERVE = fileURLToPath(
  new URL("../../apps/shop/serve.mjs", import.meta.url),
);

/** For customers of the Gangway at this address; gives back where the shop is, and how to close it. */
export async function openShop(
  gangway: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [SERVE], {
    env: { ...process.env, PORT: "0", GANGWAY: gangway },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, "line")) as [string];
  const url = /http:\/\/localhost:\d+/.exec(line)?.[0];
  if (!url) throw new Error(`The shop never said where it is, but: ${line}`);
  return {
    url,
    async stop() {
      const exited = once(child, "exit");
      child.kill();
      await exited;
    },
  };
}
