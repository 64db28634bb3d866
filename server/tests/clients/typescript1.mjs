// The TypeScript SDK's v1 client, which speaks the 2025 era, against the server: `node typescript1.mjs URL` or `... COMMAND ARGS`.
// Prints one line per check that passed; the first that fails ends it.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { answers, passed, walk } from "./checks.mjs";

const [target, ...args] = process.argv.slice(2);
const changes = [];
const client = new Client(
  { name: "typescript1", version: "1.0.0" },
  { capabilities: { elicitation: { form: {} }, sampling: {} } },
);
client.setRequestHandler(ElicitRequestSchema, (request) => answers.elicit(request.params));
client.setRequestHandler(CreateMessageRequestSchema, (request) => answers.sample(request.params));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.push("tools"));

const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, stderr: "inherit" });
await client.connect(transport);
passed("connect");
await walk(client, changes);
await client.close();
passed("close");
process.exit(0);
