"""Transcripts: predictions that are whole conversations, as the text that a judge is shown."""

from __future__ import annotations

from typing import Any

from metrichub import conversation
from metrichub.authoring import message_texts


def transcript(value: Any) -> Any:
    """The messages of a conversation as lines of JSON; of a list of candidates, a list of texts.

    Texts stay as they are.

    Raises:
        ValueError: it isn't a conversation.
    """
    if isinstance(value, str):
        return value
    listed = isinstance(value, (list, tuple))
    if listed and value and all(isinstance(item, (str, list, tuple)) for item in value):
        return list(map(transcript, value))
    return "\n".join(message_texts(conversation(value)))
