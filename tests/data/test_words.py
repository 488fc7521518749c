import pytest

from mnemon.data.vocabulary import TokenTable, most_frequent
from mnemon.data.words import join_words, split_utterance, split_words
from mnemon.errors import UserError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n", []),
        ("Don't! It's 5pm...", ["do", "n't", "!", "it", "'s", "5pm", ".", ".", "."]),
        ("It’s “fine”", ["it", "'s", '"', "fine", '"']),
        ("lol😂😂 ok", ["lol", "😂", "😂", "ok"]),
        ("👍🏽👩‍🚀🇦🇺❤️3️⃣", ["👍🏽", "👩‍🚀", "🇦🇺", "❤️", "3️⃣"]),
        ("<3 & me", ["<", "3", "&", "me"]),
        ("Cafe\u0301", ["café"]),
        ("\ufffd\x00a", ["\ufffd", "\x00", "a"]),
    ],
)
def test_utterances_are_split(text: str, words: list[str]) -> None:
    assert split_utterance(text) == words


@pytest.mark.parametrize("text", ["Don't! It's 5pm, I'd say: (yes).", "a\tb", "we'll we've you're I'm can't cannot"])
def test_ascii_text_is_split_alike_by_both(text: str) -> None:
    assert split_utterance(text) == split_words(text) == split_utterance(f"{text} 😀")[:-1]


@pytest.mark.parametrize("text", ["do n't! it's 5pm (really), ok? 😂", "hi.", "a: $5 [b]", ""])
def test_words_are_joined_for_people(text: str) -> None:
    words = split_utterance(text)
    assert split_utterance(join_words(words)) == words
    assert join_words(["do", "n't", "go", ",", "it", "'s", "late", "!"]) == "don't go, it's late!"


def test_tokens_of_words() -> None:
    table = TokenTable(special=("<end>", "<unknown>"), entries=("b", "a"), unknown=1)
    assert len(table) == 4
    assert table.encode(["a", "b", "c", "<end>"]) == [3, 2, 1, 0]
    assert table.decode([0, 1, 2, 3]) == ["<end>", "<unknown>", "b", "a"]
    for token in (-1, 4):
        with pytest.raises(IndexError, match=f"token {token} is not in a vocabulary of 4"):
            table.entry(token)
    with pytest.raises(UserError, match="'b' comes twice in a table of tokens: write each name once"):
        TokenTable(special=("<end>",), entries=("b", "a", "b"), unknown=0)


def test_the_most_frequent_words() -> None:
    words = ["b", "c", "a", "c", "b", "d"]
    assert most_frequent(words, 3) == ("b", "c", "a")
    assert most_frequent(words, 1) == ("b",)
    assert most_frequent(reversed(words), 100) == ("b", "c", "a", "d")
    assert most_frequent([], 5) == ()
