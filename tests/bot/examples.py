"""Documents as GitHub sends them: what a model of githubkit asks for, filled in, and checked by it."""

from __future__ import annotations

import enum
import types
import typing
from datetime import datetime

from pydantic import BaseModel, TypeAdapter

_WORDS = {datetime: "2026-01-02T03:04:05Z", bool: False, int: 1, float: 1.0, str: "x", dict: {}, list: []}


def example(model, **known):
    """A document that the model takes, with these values in it."""
    document = _model(model)
    _merge(document, known)
    return checked(model, document)


def checked(model, document):
    """The document, if the model takes it."""
    TypeAdapter(model).validate_python(document)
    return document


def _merge(document, known):
    for key, value in known.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        else:
            document[key] = value


def _model(model):
    return {
        field.alias or name: _value(field.annotation)
        for name, field in model.model_fields.items()
        if field.is_required() or name in ("body", "labels", "merged_at", "user")
    }


def _value(annotation):
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is type(None) or annotation is None:
        return None
    if origin is typing.Annotated:
        return _value(arguments[0])
    if origin is typing.Literal:
        return arguments[0]
    if origin in (typing.Union, types.UnionType):
        kinds = [each for each in arguments if "Unset" not in repr(each)]
        return None if type(None) in kinds else _value(kinds[0])
    if origin is not None:
        return [] if origin is list else {}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model(annotation)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return next(iter(annotation)).value
    return _WORDS.get(annotation, "x")
