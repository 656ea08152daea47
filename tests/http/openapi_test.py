"""The OpenAPI document says what the server does."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_case import HttpCase  # noqa: E402

KINDS = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}


def is_kind(value, kind):
    if kind in ("integer", "number"):
        return isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, KINDS[kind])


def faults(value, schema, document, where="$"):
    """What does not fit, by the part of JSON Schema that the document uses; any other keyword is a fault too."""
    unknown = set(schema) - {"$ref", "type", "properties", "required", "items", "enum", "additionalProperties", "description",
                             "minimum", "maximum", "minLength", "title", "default"}
    if unknown:
        return [f"{where}: keywords {unknown}"]
    if "$ref" in schema:
        part = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            part = part[step]
        return faults(value, part, document, where)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{where}: {value!r} is no {kinds}"]
    found = []
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        found.append(f"{where}: too short")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if isinstance(value, dict):
        found += [f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            if name in schema.get("properties", {}):
                found += faults(member, schema["properties"][name], document, f"{where}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{where}: {name} is not expected")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += faults(item, schema["items"], document, f"{where}[{index}]")
    return found


ARGUMENTS = {
    "sandbox_check": {"command": "rm -rf build"}, "sandbox_exec": {"command": "echo hi"}, "sandbox_queue_list": {"status": "all"},
    "sandbox_audit_log": {"limit": 5}, "sandbox_audit_stats": {}, "sandbox_allowlist_add": {"pattern": "cargo build"},
    "sandbox_allowlist_remove": {"pattern": "cargo build"}, "sandbox_allowlist_test": {"command": "cargo build"},
    "sandbox_run": {"language": "js", "code": "1"}, "sandbox_explain": {"command": "ls"},
}


class OpenApi(HttpCase):
    def setUp(self):
        super().setUp()
        self.approving = self.token("approver")
        self.document = self.ask("GET", "/v1/openapi.json", token=self.approving).json()

    def fits(self, reply, operation):
        """The answer is one that the operation names."""
        responses = operation["responses"]
        self.assertIn(str(reply.status), responses, reply.body)
        named = responses[str(reply.status)]
        if "$ref" in named:
            named = self.document["components"]["responses"][named["$ref"].rsplit("/", 1)[1]]
        kind = reply.fields["content-type"].split(";")[0]
        self.assertIn(kind, named["content"])
        if kind == "application/json":
            self.assertEqual(faults(reply.json(), named["content"][kind]["schema"], self.document), [], reply.body[:2000])

    def test_every_tool_answers_as_it_says(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        entries = [self.queue_as(self.token()), self.queue_as(self.token("agent", "--agent", "other"))]
        first, second = ({"id": self.tool("sandbox_exec", {"command": f"echo x > {name}", "dry_run": True, "keep": True},
                                          self.approving).json()["preview"]} for name in ("f", "g"))
        arguments = {**ARGUMENTS, "sandbox_preview_list": {}, "sandbox_preview_show": first, "sandbox_preview_commit": first,
                     "sandbox_preview_discard": second, "sandbox_queue_approve": {"id": entries[0], "approved_by": "me"},
                     "sandbox_queue_reject": {"id": entries[1], "rejected_by": "me", "reason": "no"}}
        tools = [path for path in self.document["paths"] if path.startswith("/v1/tools/")]
        self.assertEqual(sorted(tools), sorted("/v1/tools/" + name for name in arguments))
        for path in tools:
            with self.subTest(path):
                operation = self.document["paths"][path]["post"]
                given = arguments[operation["operationId"]]
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                self.assertEqual(faults(given, schema, self.document), [])
                reply = self.ask("POST", path, given, self.approving)
                self.assertEqual(reply.status, 200, reply.body)
                self.fits(reply, operation)
                # What the document does not allow is refused, in the way that it says.
                for wrong in ({"nonsense": 1}, [], *({**given, name: {}} for name in schema["properties"] if schema["properties"][name].get("type") == "string")):
                    refused = self.ask("POST", path, wrong, self.approving)
                    self.assertTrue(faults(wrong, schema, self.document))
                    self.assertEqual(refused.status, 400, f"{wrong} {refused.body}")
                    self.fits(refused, operation)
                self.fits(self.ask("POST", path, given), operation)

    def test_every_other_path_answers_as_it_says(self):
        for path in ("/v1/openapi.json", "/metrics", "/healthz"):
            self.fits(self.ask("GET", path, token=self.approving), self.document["paths"][path]["get"])
            self.fits(self.ask("PATCH", path, token=self.approving), self.document["paths"][path]["get"])
        for path, methods in self.document["paths"].items():
            for method in ("get", "put", "delete", "patch", "head", "options"):
                if method in methods or (path, method) == ("/mcp", "delete"):
                    continue
                self.assertEqual(self.ask(method.upper(), path, token=self.approving).status, 405, f"{method} {path}")
        self.assertEqual(self.document["paths"]["/healthz"]["get"]["security"], [])
        self.assertEqual(self.document["security"], [{"token": []}])


if __name__ == "__main__":
    unittest.main(verbosity=2)
