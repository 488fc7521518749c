"""Conversations of a few turns in the layouts of the published ones."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.data.tiny_data import write, write_glove

VECTORS = {"hello": (1.0, 0.0), "you": (0.0, 2.0), "there": (1.0, 1.0), "?": (-1.0, 0.5)}


def small_talk(conversations: int, turns: int = 4) -> list[list[str]]:
    """Turn by turn "hello there N", "how are you N ?", and so on."""
    said = ("Hello there {}", "How are you {} ?", "I'm fine {}", "Good {} !")
    return [[said[turn % len(said)].format(number) for turn in range(turns)] for number in range(conversations)]


def chit_chat_bytes(conversations: Sequence[Sequence[str]]) -> bytes:
    """Each turn as one message, the first of a conversation as two."""
    document = {
        f"id-{number}": {
            "messages": [
                [{"text": text, "sender": "x"} for text in (turn.split(" ", 1) if not place else [turn])]
                for place, turn in enumerate(turns)
            ]
        }
        for number, turns in enumerate(conversations)
    }
    return json.dumps(document).encode()


def write_chit_chat(root: Path, conversations: int = 12) -> None:
    write(root / "chitchat" / "dataset.json.gz", chit_chat_bytes(small_talk(conversations)))
    write_glove(root / "glove" / "glove.txt", VECTORS)


def write_self_dialogue(root: Path, conversations: int = 12) -> None:
    lines = [json.dumps({"topic": "x", "turns": turns}) for turns in small_talk(conversations)]
    write(root / "self_dialogue" / "self_dialogue.jsonl", "\n".join(lines).encode())
    write_glove(root / "glove" / "glove.txt", VECTORS)


def write_pairs(root: Path, pairs: int = 30) -> Path:
    lines = [f"hello number {number}\tyou are {number} ?" for number in range(pairs)]
    return write(root / "pairs.tsv", "\n".join(lines).encode())
