"""The Python SDK's client against the server: `python.py MODE URL` or `python.py MODE COMMAND ARGS`.

MODE is modern, legacy or auto. Prints one line per check that passed; the first that fails ends it.
"""

import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp import types

# The whole run ends within this time, in seconds, whatever happens.
LIMIT_S = 60


def passed(name: str) -> None:
    print(f"passed {name}", flush=True)


def equal(seen, wanted) -> None:
    assert seen == wanted, f"saw {seen!r}, wanted {wanted!r}"


async def elicit(_, params):
    (field,) = params.requested_schema["properties"]
    return types.ElicitResult(action="accept", content={field: {"name": "Ada", "colour": "green"}[field]})


async def sample(_, params):
    text = types.TextContent(type="text", text="green are the hills")
    return types.CreateMessageResult(role="assistant", model="none", content=text)


async def change(client: Client, changed: anyio.Event) -> None:
    """Says that the tools changed until it was heard: the stream that carries it opens beside the first requests."""
    for _ in range(100):
        await client.call_tool("test_trigger_tool_change", {})
        with anyio.move_on_after(0.05):
            await changed.wait()
            return
    raise AssertionError("no list change was heard")


async def listen(client: Client) -> None:
    async with client.listen(tools_list_changed=True) as events:
        await client.call_tool("test_trigger_tool_change", {})
        async for event in events:
            equal(type(event).__name__, "ToolsListChanged")
            return


async def walk(client: Client, modern: bool, changed: anyio.Event) -> None:
    listed = await client.list_tools()
    assert any(tool.name == "echo" for tool in listed.tools)
    passed("tools/list")

    echoed = await client.call_tool("echo", {"text": "grüße 🙂"})
    equal(echoed.content[0].text, "grüße 🙂")
    passed("tools/call")

    read = await client.read_resource("test://static-text")
    equal(str(read.contents[0].uri), "test://static-text")
    passed("resources/read")

    prompt = await client.get_prompt("test_simple_prompt")
    equal(prompt.messages[0].role, "user")
    passed("prompts/get")

    told = await client.call_tool("interview", {})
    equal(told.content[0].text, "Ada likes green: green are the hills")
    passed("elicitation and sampling")

    await (listen(client) if modern else change(client, changed))
    passed("list changed")


async def main() -> None:
    mode, target, *args = sys.argv[1:]
    server = target if target.startswith("http") else StdioServerParameters(command=target, args=args)
    changed = anyio.Event()

    async def heard(message) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    client = Client(
        server,
        mode={"modern": "2026-07-28"}.get(mode, mode),
        elicitation_callback=elicit,
        sampling_callback=sample,
        message_handler=heard,
    )
    with anyio.fail_after(LIMIT_S):
        async with client:
            modern = mode != "legacy"
            equal(client.protocol_version == "2026-07-28", modern)
            passed("connect")
            await walk(client, modern, changed)
        passed("close")


anyio.run(main)
