"""An MCP server that misbehaves in the given way: faults.py [how]. It has the older revision unless `modern` is given."""

import json
import os
import subprocess
import sys
import time

HOW = sys.argv[1] if len(sys.argv) > 1 else ""
OBJECT = {"type": "object"}
QUESTION = {"message": "Which city?",
            "requestedSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
LISTENER = []
TOOLS = [
    {"name": "echo", "description": "Says it again.", "inputSchema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "echo", "description": "A second one.", "inputSchema": OBJECT},
    {"name": "a/b c", "inputSchema": OBJECT},
    {"name": "broken", "inputSchema": {"type": "object", "properties": {"x": {"type": "strnig"}}}},
    {"name": "remote", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/x"}}}},
    {"name": "wrong", "inputSchema": "nothing"},
    {"name": "die", "inputSchema": OBJECT},
    {"name": "fail", "inputSchema": OBJECT},
    {"name": "refuse", "inputSchema": OBJECT},
    {"name": "nonsense", "inputSchema": OBJECT},
    {"name": "odd", "inputSchema": {"type": "object", "properties": {"json": {"type": "string"}}}},
    {"name": "bytes", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    {"name": "wait", "inputSchema": OBJECT},
    {"name": "grow", "inputSchema": OBJECT},
    {"name": "ask", "inputSchema": OBJECT},
    {"name": "children", "inputSchema": OBJECT},
    {"name": "nag", "inputSchema": OBJECT},
    {"name": "deaf", "inputSchema": OBJECT},
    {"name": "for-page", "inputSchema": OBJECT, "_meta": {"ui": {"visibility": ["app"]}}},
    {"name": "work", "inputSchema": {"type": "object", "properties": {"steps": {"type": "integer"}}}},
    {"name": "defaults", "inputSchema": {"type": "object", "required": ["city", "unit", "area"], "properties": {
        "city": {"type": "string"}, "unit": {"type": "string", "default": "C"},
        "area": {"type": "object", "default": {"km": 5}}}}},
]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request, result):
    if HOW == "modern":
        result = {"resultType": "complete", **result}
    send({"id": request["id"], "result": result})


def text(request, said):
    answer(request, {"content": [{"type": "text", "text": said}]})


def note(said):
    print(said, file=sys.stderr, flush=True)


def call(request):
    name = request["params"]["name"]
    arguments = request["params"].get("arguments", {})
    if name == "echo":
        text(request, arguments["text"])
    elif name == "a/b c":
        text(request, "found")
    elif name == "die":
        note("dying")
        os._exit(3)
    elif name == "fail":
        answer(request, {"isError": True, "content": [{"type": "text", "text": "no luck"}]})
    elif name == "refuse":
        send({"id": request["id"], "error": {"code": -32099, "message": "not today"}})
    elif name == "nonsense":
        answer(request, {"what": "ever"})
    elif name == "odd":
        sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (json.dumps(request["id"]), arguments["json"]))
        sys.stdout.flush()
    elif name == "bytes":
        text(request, "x" * arguments["n"])
    elif name == "grow":
        TOOLS.append({"name": "grown", "inputSchema": OBJECT})
        meta = {"params": {"_meta": {SUBSCRIPTION: LISTENER[0]}}} if LISTENER else {}
        send({"method": "notifications/tools/list_changed", **meta})
        text(request, "grown")
    elif name == "ask" and HOW == "modern":
        if "inputResponses" in request["params"]:
            said = json.dumps(request["params"]["inputResponses"]["q"], sort_keys=True)
            text(request, f"{request['params']['requestState']} {said}")
        else:
            question = {"method": "elicitation/create", "params": {**QUESTION, "mode": "form"}}
            answer(request, {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "kept"})
    elif name == "ask":
        send({"id": "q1", "method": "elicitation/create", "params": QUESTION})
        for line in sys.stdin:
            reply = json.loads(line)
            if reply.get("id") == "q1":
                text(request, json.dumps(reply["result"], sort_keys=True))
                return
    elif name == "nag":
        number = 0
        while True:
            number += 1
            send({"id": f"n{number}", "method": "elicitation/create", "params": QUESTION})
            while json.loads(sys.stdin.readline()).get("id") != f"n{number}":
                pass
    elif name == "work":
        token = request["params"]["_meta"]["progressToken"]
        for step in range(arguments["steps"]):
            time.sleep(0.2)
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step + 1}})
        text(request, "done")
    elif name == "defaults":
        text(request, json.dumps(arguments, sort_keys=True))
    elif name == "deaf":
        time.sleep(1000)
    elif name == "children":
        plain = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        away = subprocess.Popen(["sleep", "1000"], start_new_session=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL)
        text(request, f"{os.getpid()} {plain.pid} {away.pid}")


if HOW == "exit":
    for number in range(900):
        print(f"line {number}", file=sys.stderr)
    note("the key is missing")
    sys.exit(2)
if HOW == "slow":
    note("fetching myself")
    time.sleep(10.5)
    HOW = "modern"
if HOW == "hang":
    time.sleep(1000)
if HOW == "stubborn":
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if HOW in ("garbage", "only-garbage"):
    sys.stdout.write("Welcome!\n\x00\xff\n{\"not\": \"a message\"}\n[]\n")
    sys.stdout.flush()
if HOW == "only-garbage":
    time.sleep(1000)

first = True
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if first and method != "initialize":
        if HOW == "strict":
            note("initialize comes first")
            sys.exit(1)
        if HOW == "offended":
            time.sleep(1000)
    first = False
    if HOW == "garbage":
        sys.stdout.write("DEBUG: got a line\n")
    if method == "initialize":
        answer(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
                         "serverInfo": {"name": "n" * 10**6 if HOW == "wordy" else "faults", "version": "1"}})
        note("ready to fail")
        if HOW == "intrusive":
            send({"id": "q0", "method": "elicitation/create", "params": QUESTION})
        send({"method": "notifications/message", "params": {"level": "info", "data": "hello from the log"}})
    elif method == "server/discover" and HOW == "modern":
        answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}},
                         "ttlMs": 0, "cacheScope": "private"})
    elif method == "subscriptions/listen" and HOW == "modern":
        LISTENER.append(request["id"])
        send({"method": "notifications/subscriptions/acknowledged", "params": {
            "_meta": {SUBSCRIPTION: request["id"]}, "notifications": {"toolsListChanged": True}}})
        note("listening")
    elif method == "tools/list" and HOW == "wordy":
        page = int(request.get("params", {}).get("cursor") or 0)
        tools = [{"name": f"t{page}", "inputSchema": OBJECT, "outputSchema": {"title": "w" * 3 * 10**6}}]
        answer(request, {"tools": tools, "nextCursor": str(page + 1)})
    elif method == "resources/list" and HOW == "wordy":
        answer(request, {"resources": [{"uri": "a:b", "name": "w" * 3 * 10**6}], "nextCursor": "more"})
    elif method == "tools/list":
        answer(request, {"tools": TOOLS})
    elif method == "tools/call":
        call(request)
    elif method == "notifications/cancelled":
        note(f"cancelled {request['params']['requestId']}")
    elif request.get("id") == "q0":
        note(f"unasked: {request['result']['action']}")
    elif "id" in request and method:
        send({"id": request["id"], "error": {"code": -32601, "message": f"no {method}"}})
if HOW == "stubborn":
    time.sleep(1000)
