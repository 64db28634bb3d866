// What every client of the TypeScript SDKs does with the server's fixture, and what it must see.
import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** The whole run ends within this time, in milliseconds, whatever happens. */
const LIMIT_MS = 60_000;

setTimeout(() => fail(`nothing more happened for ${LIMIT_MS} ms`), LIMIT_MS).unref();
process.on("unhandledRejection", (error) => fail(error?.stack ?? String(error)));

function fail(what) {
  console.error(what);
  process.exit(1);
}

export function passed(name) {
  console.log(`passed ${name}`);
}

export function equal(seen, wanted) {
  if (!isDeepStrictEqual(seen, wanted)) {
    throw new Error(`saw ${JSON.stringify(seen)}, wanted ${JSON.stringify(wanted)}`);
  }
}

/** The user and the model behind the client. */
export const answers = {
  elicit(params) {
    const [field] = Object.keys(params.requestedSchema.properties);
    return { action: "accept", content: { [field]: { name: "Ada", colour: "green" }[field] } };
  },
  sample() {
    return { role: "assistant", model: "none", content: { type: "text", text: "green are the hills" } };
  },
};

export async function walk(client, changes) {
  const { tools } = await client.listTools();
  equal(tools.some((tool) => tool.name === "echo"), true);
  passed("tools/list");

  const echoed = await client.callTool({ name: "echo", arguments: { text: "grüße 🙂" } });
  equal(echoed.content, [{ type: "text", text: "grüße 🙂" }]);
  passed("tools/call");

  const read = await client.readResource({ uri: "test://static-text" });
  equal(read.contents[0].uri, "test://static-text");
  equal(typeof read.contents[0].text, "string");
  passed("resources/read");

  const prompt = await client.getPrompt({ name: "test_simple_prompt" });
  equal(prompt.messages[0].role, "user");
  passed("prompts/get");

  const interview = await client.callTool({ name: "interview", arguments: {} });
  equal(interview.content, [{ type: "text", text: "Ada likes green: green are the hills" }]);
  passed("elicitation and sampling");

  // The stream that carries the change is opened beside the first requests: say it again until it was heard.
  for (let round = 0; changes.length === 0 && round < 100; round++) {
    await client.callTool({ name: "test_trigger_tool_change", arguments: {} });
    await wait(50);
  }
  equal(changes[0], "tools");
  passed("list changed");
}
