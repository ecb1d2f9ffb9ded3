"""Books movie tickets from a sentence, by rules: python3 agent.py "two seats for a comedy on Saturday evening, near the front"
A booking that is under way is gone on with. On any other page it uses one tool: python3 agent.py 'switch {"on": true}'
Needs Python 3.9 or newer and nothing else; GANGWAY_URL and GANGWAY_SESSION (of a page, or a chat) say where, GANGWAY_KEY is a key or token."""
import base64, json, os, re, socket, struct, sys, time
from urllib.parse import urlsplit

COUNTS = ["", "one", "two", "three", "four", "five", "six"]
DAYPARTS = {"morning": ("06", "12"), "afternoon": ("12", "17"), "evening": ("17", "21:30"), "night": ("20:30", "24")}
wish = sys.argv[1] if len(sys.argv) > 1 else "one seat"
sentence = wish.lower()
count = next((int(w) if w.isdigit() else COUNTS.index(w) for w in re.findall(r"\w+", sentence) if w.isdigit() or w in COUNTS), 1)
start, end = next((span for part, span in DAYPARTS.items() if part in sentence), ("00", "24"))


class Relay:
    """One WebSocket to the relay, as much of it as an agent needs."""

    def __init__(self, url, session):
        at, self.last, self.prefix = urlsplit(url), 0, ""
        self.socket = socket.create_connection((at.hostname, at.port or 80), timeout=90)
        stream, key = self.socket.makefile("rb"), base64.b64encode(os.urandom(16)).decode()
        self.read = stream.read
        self.socket.sendall((f"GET /agent/ws?token={os.environ.get('GANGWAY_KEY', '')} HTTP/1.1\r\nHost: {at.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        status = stream.readline()
        if b" 101 " not in status or not all(iter(lambda: stream.readline().strip(), b"")):
            sys.exit(f"The relay does not let us in: {status.decode()}")
        self.ask("relay.join", {"role": "agent", "sessionId": session})

    def write(self, kind, data):
        mask, size = os.urandom(4), len(data)
        head = struct.pack("!BB", 0x80 | kind, 0x80 | size) if size < 126 else struct.pack("!BBQ", 0x80 | kind, 0xFF, size)
        self.socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

    def message(self):
        """The next whole message; pings are answered on the way."""
        text = b""
        while True:
            first, size = self.read(2) or sys.exit("The relay is gone.")
            if size > 125:
                size = struct.unpack(*(("!H", self.read(2)) if size == 126 else ("!Q", self.read(8))))[0]
            data, kind = self.read(size), first & 15
            if kind == 9:
                self.write(10, data)
            text += data if kind < 3 else b""
            if kind < 3 and first & 0x80:
                return json.loads(text)

    def say(self, kind, payload):
        self.last += 1
        request = {"v": "mvp-0.2", "type": kind, "id": f"q{self.last}", "payload": payload}
        self.write(1, json.dumps(request).encode())
        return request

    def ask(self, kind, payload):
        request, answer = self.say(kind, payload), {}
        while answer.get("replyTo") != request["id"]:
            answer = self.message()
        if answer["type"] == "error":
            raise ValueError("{code}: {message}".format(**answer["payload"]))
        if answer["payload"].get("uiSpec", "") is None:
            raise ValueError("The page shows nothing yet.")
        return answer["payload"]

    def leave(self):
        """Says goodbye and waits for the answer, so that nothing that was said last is lost."""
        self.write(8, b"")
        while self.socket.recv(65536):
            pass

    def use(self, tool, params, reason):
        print(f"{tool} {json.dumps(params)}: {reason}", flush=True)
        return self.ask("tool.call", {"toolName": self.prefix + tool, "params": params, "reason": reason})

    def look(self):
        """What the page shows; in a chat that is its booking page, whose tools have its name before theirs."""
        shown = self.ask("snapshot.get", {})
        for page in shown["uiSpec"].get("pages", []):
            if page["kind"] == "relay" and "booking" in ((page.get("state") or {}).get("state") or {}):
                self.prefix = page["server"] + "/"
                return {**shown, "uiSpec": page["state"]}
        return shown


def best(items):
    """The item that most of the wishes hold for, and of several the first."""
    says = lambda item, *fields: any(str(item.get(field, "?")).lower() in sentence for field in fields)
    fit = lambda item: says(item, "title", "genre", "name") + says(item, "weekday") + (start <= str(item.get("time", "")) < end)
    return max((item for item in items if not item.get("isDisabled")), key=fit)["id"]


def seats(items):
    """Free seats side by side, as near to the wished row as can be."""
    rows = list(dict.fromkeys(item["row"] for item in items))
    goal = 1 if "front" in sentence else len(rows) - 1 if "back" in sentence else len(rows) // 2
    for row in sorted(rows, key=lambda row: abs(rows.index(row) - goal)):
        here = [item for item in items if item["row"] == row]
        for group in (here[at:at + count] for at in range(len(here) - count + 1)):
            if not any(item.get("isDisabled") or item["kind"] == "accessible" for item in group):
                return [item["id"] for item in group]
    raise ValueError(f"There are no {count} seats side by side.")


def settle(relay, stage, items, state):
    """Makes the missing choices on the current stage and goes to the next; existing choices are kept."""
    chosen = [item["id"] for item in state.get("selectedList", [])]
    for seat in chosen + seats(items) if stage == "seat" and len(chosen) != count else []:
        relay.use("select", {"itemId": seat}, "Side by side, as near as wished; others are let go.")
    if stage == "ticket":
        wanted, counted = len(state["booking"].get("seats", [])) or count, {each["item"]["id"]: each["count"] for each in state.get("quantities", [])}
        if sum(counted.values()) != wanted:
            for kind, quantity in [(kind, 0) for kind in counted if counted[kind]] + [(best(items), wanted)]:
                relay.use("setQuantity", {"typeId": kind, "quantity": quantity}, "One for each seat.")
    if stage not in ("seat", "ticket", "confirm") and "selected" not in state:
        relay.use("select", {"itemId": best(items)}, f'Fits "{sentence}" best.')
    relay.use("next", {}, "All is as wished: booking." if stage == "confirm" else f"The {stage} is settled.")


def other(relay, spec, tools):
    """A page without a booking: uses the tool in the request, such as 'switch {"on": true}', or lists the tools."""
    name, _, params = wish.strip().partition(" ")
    if any(tool["name"] == name for tool in tools):
        print(f"{name}:", json.dumps(relay.use(name, json.loads(params or "{}"), "The person asked for it.").get("result", "done")))
        return 0
    if not tools:
        print(f'"{spec.get("title", "")}" has no tools now; open a page that offers some.')
        return 2
    print(f'The page "{spec.get("title", "")}" has no booking. Name one of its tools, with params as JSON:')
    for tool in tools:
        print(f'  {tool["name"]} ({", ".join(tool["parameters"])}): {tool["description"]}')
    relay.say("agent.message", {"text": "I book movie tickets, and there is no booking on this page."})
    return 2


def run(relay):
    for step in range(30):
        try:
            shown = relay.look()
            spec, state = shown["uiSpec"], shown["uiSpec"].get("state") or {}
            booking = state.get("booking")
            if not booking:
                break
            if booking["status"] == "cancelled":
                return "The booking was cancelled."
            if booking["status"] == "booked":
                return print("Already booked:" if step == 0 else "Booked:", booking["code"])
            settle(relay, spec["stage"], spec["items"], state)
        except ValueError as problem:  # A page that is not there yet, a seat that is gone, a person who was faster: look again.
            print(problem, flush=True)
            time.sleep(1)
    else:
        return "It came to no end."
    try:
        return other(relay, spec, shown["toolSchema"])
    except ValueError as problem:
        return str(problem)


relay = Relay(os.environ.get("GANGWAY_URL", "http://127.0.0.1:3000"), os.environ.get("GANGWAY_SESSION", "default"))
ended = run(relay)
relay.leave()
sys.exit(ended)
