"""A model that is none: it speaks as the services of the coding agents do, and calls the tools that a test tells it to.

    with FakeModel([("Bash", {"command": "ls"})]) as model:
        … an agent is run with model.url as its service …
        model.results   # what the agent's tools answered, in order

Each conversation gets the calls one after another, and a closing sentence after the last. Requests that offer no tools
(titles, warm-up) get the sentence only."""
import http.server
import json
import threading

LAST_WORDS = "I am done."


def sse(events, named=True):
    """The events as a stream; each is an object with a "type", which some services also write as the event's name."""
    text = ""
    for event in events:
        if named:
            text += f"event: {event['type']}\n"
        text += f"data: {json.dumps(event)}\n\n"
    return text


class Anthropic:
    """POST /v1/messages"""
    @staticmethod
    def fits(path):
        return path.startswith("/v1/messages") and "count_tokens" not in path

    @staticmethod
    def has_tools(body):
        return bool(body.get("tools"))

    @staticmethod
    def results(body):
        return [block for message in body["messages"] if isinstance(message["content"], list)
                for block in message["content"] if block["type"] == "tool_result"]

    @staticmethod
    def answer(body, call, number):
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"], "content": [], "stop_reason": None,
                   "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": LAST_WORDS}
        if not body.get("stream"):
            full = {**block, "input": call[1]} if call else {**block, "text": LAST_WORDS}
            return "application/json", json.dumps({**message, "content": [full], "stop_reason": "tool_use" if call else "end_turn"})
        return "text/event-stream", sse([
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"}])


class Responses:
    """POST /v1/responses (Codex)"""
    @staticmethod
    def fits(path):
        return path.startswith("/v1/responses")

    @staticmethod
    def has_tools(body):
        return bool(body.get("tools")) or any(item.get("type") == "additional_tools" for item in body["input"])

    @staticmethod
    def results(body):
        return [item for item in body["input"] if item.get("type", "").endswith("_call_output")]

    @staticmethod
    def answer(body, call, number):
        if call and isinstance(call[1], str):
            item = {"type": "custom_tool_call", "id": f"ctc_{number}", "call_id": f"call_{number}", "name": call[0], "input": call[1], "status": "completed"}
        elif call:
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0], "arguments": json.dumps(call[1]),
                    "status": "completed"}
        else:
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": LAST_WORDS, "annotations": []}]}
        response = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0},
                 "total_tokens": 2}
        return "text/event-stream", sse([
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "status": "completed", "output": [item], "usage": usage}}])


class Gemini:
    """POST /v1beta/models/NAME:streamGenerateContent"""
    @staticmethod
    def fits(path):
        return "enerateContent" in path

    @staticmethod
    def has_tools(body):
        return bool(body.get("tools"))

    @staticmethod
    def results(body):
        return [part["functionResponse"] for content in body.get("contents", []) for part in content.get("parts", []) if "functionResponse" in part]

    @staticmethod
    def answer(body, call, number):
        part = {"functionCall": {"name": call[0], "args": call[1], "id": f"call_{number}"}} if call else {"text": LAST_WORDS}
        if not call and body.get("generationConfig", {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"reasoning": "x", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1, "complexity_reasoning": "x"})}
        chunk = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "m"}
        return "text/event-stream", "data: " + json.dumps(chunk) + "\n\n"

    @staticmethod
    def whole(answer):
        return "application/json", answer[1].removeprefix("data: ").strip()


class Completions:
    """POST /v1/chat/completions (OpenClaw, by a provider of the user's own)"""
    @staticmethod
    def fits(path):
        return path.endswith("/chat/completions")

    @staticmethod
    def has_tools(body):
        return bool(body.get("tools"))

    @staticmethod
    def results(body):
        return [message for message in body["messages"] if message["role"] == "tool"]

    @staticmethod
    def answer(body, call, number):
        if call:
            delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function",
                                                          "function": {"name": call[0], "arguments": json.dumps(call[1])}}]}
        else:
            delta = {"role": "assistant", "content": LAST_WORDS}
        chunk = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        events = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                  {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}],
                   "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}]
        return "text/event-stream", sse(events, named=False) + "data: [DONE]\n\n"


SERVICES = (Anthropic, Responses, Gemini, Completions)


class FakeModel:
    def __init__(self, calls):
        self.calls = calls
        self.results = []
        self.requests = []  # (path, body), of whatever kind
        self.lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def reply(self, kind, text, status=200):
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                with model.lock:
                    model.requests.append((self.path, None))
                self.reply("application/json", json.dumps({"object": "list", "data": [], "models": []}))

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                try:
                    body = json.loads(raw)
                except ValueError:
                    body = {}
                with model.lock:
                    model.requests.append((self.path, body))
                    self.reply(*model.answer(self.path, body))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, path, body):
        service = next((one for one in SERVICES if one.fits(path)), None)
        if service is None:
            return "application/json", json.dumps({"input_tokens": 1})
        number = len(self.requests)
        if service is Gemini and "stream" not in path:
            return Gemini.whole(Gemini.answer(body, None, number))
        if not service.has_tools(body):
            return service.answer(body, None, number)
        results = service.results(body)
        if len(results) > len(self.results):
            self.results = results
        done = len(results)
        return service.answer(body, self.calls[done] if done < len(self.calls) else None, number)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
