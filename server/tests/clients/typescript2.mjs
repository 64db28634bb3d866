// The TypeScript SDK's v2 client against the server: `node typescript2.mjs MODE URL` or `... MODE COMMAND ARGS`.
// MODE is modern, legacy or auto. Prints one line per check that passed; the first that fails ends it.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answers, equal, passed, walk } from "./checks.mjs";

const [mode, target, ...args] = process.argv.slice(2);
const negotiation = { modern: { pin: "2026-07-28" }, legacy: "legacy", auto: "auto" }[mode];
const changes = [];
const client = new Client(
  { name: "typescript2", version: "1.0.0" },
  {
    capabilities: { elicitation: { form: {} }, sampling: {} },
    versionNegotiation: { mode: negotiation },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changes.push("tools") } },
  },
);
client.setRequestHandler("elicitation/create", (request) => answers.elicit(request.params));
client.setRequestHandler("sampling/createMessage", (request) => answers.sample(request.params));

const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, stderr: "inherit" });
await client.connect(transport);
equal(client.getProtocolEra(), mode === "legacy" ? "legacy" : "modern");
passed("connect");
await walk(client, changes);
await client.close();
passed("close");
process.exit(0);
