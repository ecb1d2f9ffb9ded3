// OpenAI's own client for JavaScript on the OpenAI door, from a program rather than a page.
import { expect, test as base } from "@playwright/test";
import OpenAI from "openai";
import { FakeOpenAi } from "../providers.js";
import { Server } from "../server.js";

const MODEL = "work/clever-1";

interface Fixtures {
  server: Server;
  client: OpenAI;
}

const test = base.extend<Fixtures>({
  // eslint-disable-next-line no-empty-pattern
  server: async ({}, use) => {
    const work = await new FakeOpenAi().start();
    const server = await Server.start({
      withKey: true,
      providers: {
        work: { type: "openai", base_url: `${work.url}/v1`, key: "WORK_KEY" },
      },
    });
    const stored = await server.fetch("/api/providers/work/key", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key: work.key }),
    });
    expect(stored.status).toBe(200);
    await use(server);
    await server.stop();
    await work.stop();
  },

  client: async ({ server }, use) => {
    await use(clientOf(server, server.key));
  },
});

function clientOf(server: Server, apiKey: string): OpenAI {
  // A client that tries again by itself would hide the first answer.
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
}

function ask(content: string) {
  return { model: MODEL, messages: [{ role: "user" as const, content }] };
}

const WEATHER = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "Tells the weather in a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  },
};

/** The error that something must end with. */
async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect(null, "it did not fail").not.toBeNull(),
    (error: unknown) => error,
  );
}

test("models are listed, and found by a name with a slash", async ({
  client,
}) => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  expect(names).toEqual([MODEL]);
  expect((await client.models.retrieve(MODEL)).owned_by).toBe("work");
  const none = await failure(client.models.retrieve("work/none"));
  expect(none).toBeInstanceOf(OpenAI.NotFoundError);
});

test("a chat and a streamed chat have the same text", async ({ client }) => {
  const whole = await client.chat.completions.create(ask("Hello"));
  expect(whole.choices[0]?.message.content).toBe("Work received: Hello");
  expect(whole.choices[0]?.finish_reason).toBe("stop");
  expect(whole.usage?.total_tokens).toBe(14);
  const stream = await client.chat.completions.create({
    ...ask("Hello"),
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let tokens;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    tokens = chunk.usage?.total_tokens;
  }
  expect([text, tokens]).toEqual(["Work received: Hello", 14]);
});

test("a tool is called, whole and in a stream, and its answer goes back", async ({
  client,
}) => {
  const wish = { ...ask("What is the weather?"), tools: [WEATHER] };
  const whole = await client.chat.completions.create(wish);
  const message = whole.choices[0]?.message;
  const call = message?.tool_calls?.[0];
  if (!message || call?.type !== "function")
    throw new Error("no function was called");
  expect(call.function.name).toBe("weather");
  expect(JSON.parse(call.function.arguments)).toEqual({ city: "Paris" });

  const stream = client.chat.completions.stream(wish);
  const final = await stream.finalMessage();
  expect(final.tool_calls).toMatchObject(message.tool_calls ?? []);

  const told = {
    role: "tool" as const,
    tool_call_id: call.id,
    content: "21 degrees",
  };
  const answer = await client.chat.completions.create({
    ...wish,
    messages: [...wish.messages, message, told],
  });
  expect(answer.choices[0]?.message.content).toBe("Work received: 21 degrees");
});

test("the client runs tools itself until there is an answer", async ({
  client,
}) => {
  const asked: string[] = [];
  const weather = {
    ...WEATHER,
    function: {
      ...WEATHER.function,
      parse: JSON.parse,
      function: ({ city }: { city: string }) => {
        asked.push(city);
        return "21 degrees";
      },
    },
  };
  for (const stream of [false, true] as const) {
    const wish = { ...ask("What is the weather?"), tools: [weather] };
    const runner = stream
      ? client.chat.completions.runTools({ ...wish, stream })
      : client.chat.completions.runTools({ ...wish, stream });
    expect(await runner.finalContent()).toBe("Work received: 21 degrees");
  }
  expect(asked).toEqual(["Paris", "Paris"]);
});

test("what goes wrong has the client's own type", async ({
  client,
  server,
}) => {
  const stranger = clientOf(server, "sk-wrong");
  const unknown = await failure(stranger.chat.completions.create(ask("Hi")));
  expect(unknown).toBeInstanceOf(OpenAI.AuthenticationError);
  expect(String(unknown)).not.toContain("sk-wrong");

  const hot = { ...ask("Hi"), temperature: 9 };
  const bad = await failure(client.chat.completions.create(hot));
  expect(bad).toBeInstanceOf(OpenAI.BadRequestError);
  expect(String(bad)).toContain("`temperature` must be between 0 and 2");

  const many = await failure(client.chat.completions.create(ask("too many")));
  expect(many).toBeInstanceOf(OpenAI.RateLimitError);
  expect(String(many)).toContain("slow down");
  // The wait is on its way in a header.
  expect(
    (many as InstanceType<typeof OpenAI.APIError>).headers?.get("retry-after"),
  ).toBe("60");
});

test("an error in the middle of a stream comes after the text", async ({
  client,
}) => {
  const stream = await client.chat.completions.create({
    ...ask("please fail"),
    stream: true,
  });
  let text = "";
  const read = async () => {
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
  };
  const error = await failure(read());
  expect(error).toBeInstanceOf(OpenAI.APIError);
  expect(String(error)).toContain("the cat sat on the GPU");
  expect(text).toBe("Half an ");
});
