"""The description of the API, made from the types of its requests and answers."""

from __future__ import annotations

from typing import Any

import msgspec

import stategram
from stategram.explore.app.explorer import ENDPOINTS, Endpoint
from stategram.explore.app.messages import MAX_BODY, Info, InfoRequest, Problem
from stategram.explore.pages import render

_BOUNDS = {"maxLength": "at most {} characters", "maxItems": "at most {}", "maximum": "at most {}"}
_REF = "#/components/schemas/{name}"


def _endpoints() -> dict[str, Endpoint]:
    return {"info": Endpoint(InfoRequest, Info, lambda *_: Problem(""))} | dict(ENDPOINTS)


def openapi() -> dict[str, Any]:
    """Return the description as OpenAPI 3.1 has it."""
    endpoints = _endpoints()
    types = [kind for one in endpoints.values() for kind in (one.request, one.answer)]
    schemas, components = msgspec.json.schema_components([*types, Problem], ref_template=_REF)
    bodies = dict(zip([*types, Problem], schemas, strict=True))
    problem = {"content": {"application/json": {"schema": bodies[Problem]}}}
    paths = {
        f"/api/{name}": {
            "post": {
                "operationId": name,
                "summary": _summary(one.request),
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": bodies[one.request]}},
                },
                "responses": {
                    "200": {
                        "description": _summary(one.answer),
                        "content": {"application/json": {"schema": bodies[one.answer]}},
                    },
                    "400": {"description": "The request is not valid.", **problem},
                    "403": {"description": "The request comes from another page.", **problem},
                    "413": {"description": "The request is too large.", **problem},
                    "503": {"description": "The answer took too long.", **problem},
                },
            }
        }
        for name, one in endpoints.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "stategram explorer", "version": stategram.__version__},
        "paths": paths,
        "components": {"schemas": components},
    }


def api_page(address: str) -> str:
    """Return the description as a page."""
    description = openapi()
    components = description["components"]["schemas"]
    return render(
        "api.html",
        package="stategram.explore.app",
        address=address,
        body=MAX_BODY,
        endpoints=[
            {
                "name": name,
                "summary": _summary(one.request),
                "fields": _fields(components[one.request.__name__]),
                "answer": _fields(components[one.answer.__name__]),
            }
            for name, one in _endpoints().items()
        ],
    )


def _summary(kind: type[Any]) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


def _fields(schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    required = schema.get("required", ())
    found = []
    for name, field in schema.get("properties", {}).items():
        notes = [field.get("description", "")]
        if "default" in field:
            notes.append(f"default {msgspec.json.encode(field['default']).decode()}")
        elif name in required:
            notes.append("required" if "Request" in schema.get("title", "") else "")
        notes += [text.format(f"{field[key]:,}") for key, text in _BOUNDS.items() if key in field]
        found.append((name, _type(field), "; ".join(filter(None, notes))))
    return found


def _type(field: dict[str, Any]) -> str:
    """Return the type of a field in a few words."""
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(map(_type, field["anyOf"]))
    if field.get("type") == "array":
        items = field.get("prefixItems") or [field.get("items") or {}]
        return f"list of {', '.join(map(_type, items))}"
    kind = field.get("type", "value")
    return "null" if kind is None else str(kind)
