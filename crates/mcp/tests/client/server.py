# A server of the Model Context Protocol for tests: correct, unless a test changes what it does.
#
# A test appends code that replaces the functions and tables it wants to behave otherwise, and then the call
# `over_pipes()` or `over_http()`.
import base64, json, os, signal, subprocess, sys, threading, time

CAPABILITIES = {"tools": {}, "resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}}
TOOLS = [{"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}]
SKILLS = []
FILES = {}
HEARD = []


def result(request, value):
    return {"jsonrpc": "2.0", "id": request["id"], "result": value}


def error(request, code, message):
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}


def discover(request):
    return error(request, -32601, "no such method")


def initialize(request):
    version = request["params"]["protocolVersion"]
    info = {"name": "tester", "version": "7"}
    return result(request, {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": info,
                            "instructions": "be kind"})


def call(request, say):
    text = json.dumps(request["params"]["arguments"], sort_keys=True)
    return result(request, {"content": [{"type": "text", "text": text}]})


def tools(request):
    return result(request, {"tools": TOOLS})


def skills(request):
    return result(request, {"resultType": "complete", "skills": SKILLS, "ttlMs": 0, "cacheScope": "private"})


def skill(request):
    for entry in SKILLS:
        if isinstance(entry, dict) and entry["uri"] == request["params"]["uri"]:
            return result(request, {"resultType": "complete", "skill": entry, "ttlMs": 0, "cacheScope": "private"})
    return error(request, -32602, "no such skill")


def read(request):
    uri = request["params"]["uri"]
    if uri not in FILES:
        return error(request, -32602, "no such file")
    return result(request, {"contents": FILES[uri]})


def answer(message, say):
    HEARD.append(message)
    method = message.get("method")
    known = {"server/discover": discover, "initialize": initialize, "tools/list": tools,
             "skills/list": skills, "skills/get": skill, "resources/read": read}
    if "id" not in message or method is None:
        return None
    if method == "tools/call":
        return call(message, say)
    if method in known:
        return known[method](message)
    return error(message, -32601, "no such method")


WRITING = threading.Lock()


def say(message):
    with WRITING:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def over_pipes():
    def work(message):
        reply = answer(message, say)
        if reply is not None:
            say(reply)

    for line in sys.stdin:
        threading.Thread(target=work, args=[json.loads(line)], daemon=True).start()


def respond(handler, message):
    """Answers a message over HTTP; a test may do it otherwise."""
    reply = answer(message, lambda message: None)
    if reply is None:
        return send(handler, 202, {}, b"")
    extra = {"Mcp-Session-Id": "session-1"} if message.get("method") == "initialize" else {}
    send(handler, 200, {"Content-Type": "application/json", **extra}, json.dumps(reply).encode())


def stream(handler):
    """Answers a request for a stream."""
    send(handler, 405, {}, b"")


def send(handler, status, headers, body):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def events(handler, pieces):
    """Answers with events, and hangs up."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    for piece in pieces:
        handler.wfile.write(piece.encode())
        handler.wfile.flush()
    handler.close_connection = True


def event(message, id=None):
    start = f"id: {id}\n" if id else ""
    return f"{start}data: {json.dumps(message)}\n\n"


ASKED = []


def over_http():
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            message = json.loads(body)
            ASKED.append(["POST", message.get("method"), dict(self.headers)])
            respond(self, message)

        def do_GET(self):
            if self.path == "/asked":
                return send(self, 200, {}, json.dumps(ASKED).encode())
            ASKED.append(["GET", None, dict(self.headers)])
            stream(self)

        def do_DELETE(self):
            ASKED.append(["DELETE", None, dict(self.headers)])
            send(self, 200, {}, b"")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()
