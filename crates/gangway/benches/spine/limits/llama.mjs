// llama.cpp as it is built for npm, by node-llama-cpp: `node llama.mjs PACKAGE WEIGHTS THREADS WINDOW`.
// Answers each line of the standard input, a question, with a line of figures.
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, weights, threads, window] = process.argv.slice(2);
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(join(folder, "dist", "index.js")).href);
const llama = await getLlama({
  gpu: false,
  build: "never",
  maxThreads: Number(threads),
  progressLogs: false,
  logLevel: LlamaLogLevel.disabled,
});
const model = await llama.loadModel({ modelPath: weights });
const context = await model.createContext({ contextSize: Number(window), threads: Number(threads) });
const sequence = context.getSequence();
const turn = (role, text) => `<|im_start|>${role}\n${text}<|im_end|>\n`;

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const begin = performance.now();
  const seconds = () => (performance.now() - begin) / 1000;
  const prompt = `${turn("system", asked.system)}${turn("user", asked.user)}<|im_start|>assistant\n`;
  const tokens = model.tokenize(prompt, true);
  await sequence.clearHistory();
  let first = 0;
  let written = 0;
  for await (const token of sequence.evaluate(tokens, { temperature: 0 })) {
    model.detokenize([token]);
    first ||= seconds();
    written += 1;
    if (written === asked.tokens) break;
  }
  console.log(JSON.stringify({ read: tokens.length, written, first, rest: seconds() - first }));
}
