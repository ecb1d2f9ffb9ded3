"""What the conformance suite expects of a server: a server of tools over standard input and output, to run behind Gangway.

It speaks the protocol by hand, as of 2025-11-25, one line a message, and needs nothing but Python.
"""

import json
import sys
import time

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
# A WAV file with no sound in it.
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
NOTHING = {"type": "object", "properties": {}}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def notify(method, params):
    say({"method": method, "params": params})


def text(words):
    return {"type": "text", "text": words}


def image():
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def resource(uri, kind, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


def logging(_):
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        notify("notifications/message", {"level": "info", "data": words})
        time.sleep(0.05)
    return [text("It was logged.")]


def progress(params):
    token = params.get("_meta", {}).get("progressToken")
    for part in [0, 50, 100]:
        if token is not None:
            notify("notifications/progress", {"progressToken": token, "progress": part, "total": 100})
        time.sleep(0.05)
    return [text("It is done.")]


TOOLS = {
    "test_simple_text": lambda _: [text("This is a simple text response for testing.")],
    "test_image_content": lambda _: [image()],
    "test_audio_content": lambda _: [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": lambda _: [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": lambda _: [
        text("Multiple content types test:"),
        image(),
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_tool_with_logging": logging,
    "test_tool_with_progress": progress,
    "json_schema_2020_12_tool": lambda _: [text("ok")],
}


def call(params):
    if params["name"] == "test_error_handling":
        words = "This tool intentionally returns an error for testing"
        return {"content": [text(words)], "isError": True}
    return {"content": TOOLS[params["name"]](params)}


def listed_tools(_):
    names = [*TOOLS, "test_error_handling"]
    schema = {"json_schema_2020_12_tool": SCHEMA}
    return {
        "tools": [
            {"name": name, "description": f"For the suite: {name}", "inputSchema": schema.get(name, NOTHING)}
            for name in names
        ]
    }


def listed_resources(_):
    return {
        "resources": [
            {"uri": "test://static-text", "name": "text", "description": "A text", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "binary", "description": "An image", "mimeType": "image/png"},
        ]
    }


def templates(_):
    return {
        "resourceTemplates": [
            {"uriTemplate": "test://template/{id}/data", "name": "data", "description": "By id", "mimeType": "application/json"}
        ]
    }


def read(params):
    uri = params["uri"]
    if uri == "test://static-text":
        found = {"mimeType": "text/plain", "text": "This is the content of the static text resource."}
    elif uri == "test://static-binary":
        found = {"mimeType": "image/png", "blob": PNG}
    elif uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.split("/")[3]
        words = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        found = {"mimeType": "application/json", "text": words}
    else:
        raise KeyError(uri)
    return {"contents": [{"uri": uri, **found}]}


def prompts(_):
    def wanted(*names):
        return [{"name": name, "description": name, "required": True} for name in names]

    return {
        "prompts": [
            {"name": "test_simple_prompt", "description": "Simple"},
            {"name": "test_prompt_with_arguments", "description": "Two arguments", "arguments": wanted("arg1", "arg2")},
            {"name": "test_prompt_with_embedded_resource", "description": "A resource", "arguments": wanted("resourceUri")},
            {"name": "test_prompt_with_image", "description": "An image"},
        ]
    }


def prompt(params):
    given = params.get("arguments", {})
    blocks = {
        "test_simple_prompt": lambda: [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": lambda: [
            text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
        ],
        "test_prompt_with_embedded_resource": lambda: [
            resource(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": lambda: [image(), text("Please analyze the image above.")],
    }[params["name"]]()
    return {"messages": [{"role": "user", "content": block} for block in blocks]}


METHODS = {
    "initialize": lambda params: {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}},
        "serverInfo": {"name": "conformance", "version": "1"},
    },
    "ping": lambda _: {},
    "logging/setLevel": lambda _: {},
    "completion/complete": lambda _: {"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": False}},
    "tools/list": listed_tools,
    "tools/call": call,
    "resources/list": listed_resources,
    "resources/templates/list": templates,
    "resources/read": read,
    "prompts/list": prompts,
    "prompts/get": prompt,
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    number, method = message["id"], METHODS.get(message["method"])
    if method is None:
        say({"id": number, "error": {"code": -32601, "message": "there is no such method"}})
        continue
    try:
        say({"id": number, "result": method(message.get("params", {}))})
    except KeyError as error:
        data = {"uri": message["params"].get("uri")}
        say({"id": number, "error": {"code": -32602, "message": f"there is no {error}", "data": data}})
