// The entry of embed.js: puts `Gangway.embed` into the page.
import { embed } from "./embed.js";

const page = globalThis as { Gangway?: object };
page.Gangway = { ...page.Gangway, embed };
