from __future__ import annotations

from collections import Counter

import pytest

from fastcrf.data.datasets.addresses import LABELS, address_items, make_addresses, ordinal, token_shape


def test_the_same_seed_gives_the_same_addresses_and_another_seed_others():
    assert make_addresses(50, random_state=3) == make_addresses(50, random_state=3)
    assert make_addresses(50, random_state=3) != make_addresses(50, random_state=4)


def test_each_token_has_a_label_of_the_list_and_each_label_occurs():
    tokens, labels = make_addresses(1000)
    assert len(tokens) == len(labels) == 1000
    assert all(len(a) == len(b) > 0 for a, b in zip(tokens, labels, strict=True))
    assert {label for sequence in labels for label in sequence} == set(LABELS)


def test_tokens_survive_a_file_of_one_token_a_line():
    tokens, _ = make_addresses(1000)
    assert all(token and not any(c.isspace() for c in token) for address in tokens for token in address)


def test_a_part_of_an_address_is_written_in_one_piece_apart_from_the_direction():
    _, labels = make_addresses(1000)
    for sequence in labels:
        runs = Counter(b for a, b in zip(["", *sequence], sequence, strict=False) if a != b)
        assert max(count for label, count in runs.items() if label != "Direction") == 1


def test_held_out_addresses_hold_words_that_training_has_not_seen():
    tokens, _ = make_addresses(2000)
    seen = {token for address in tokens[:1500] for token in address}
    unseen = sum(token not in seen for address in tokens[1500:] for token in address)
    assert 0.02 < unseen / sum(map(len, tokens[1500:])) < 0.5


def test_the_corpus_is_ambiguous_the_same_word_has_several_labels():
    tokens, labels = make_addresses(4000)
    readings: dict[str, set[str]] = {}
    for address, sequence in zip(tokens, labels, strict=True):
        for token, label in zip(address, sequence, strict=True):
            readings.setdefault(token.lower().strip(".,"), set()).add(label)
    assert {"StreetType", "PlaceName"} <= readings["st"]
    assert {"Direction", "OccupancyId", "PlaceName"} <= readings["n"]
    assert {"State", "PlaceName", "StreetName", "Recipient"} <= readings["washington"]


def test_items_describe_each_token_and_its_neighbors():
    items = address_items(["12B", "Main", "St.,"])
    assert len(items) == 3
    assert {"word=12b", "shape=99A", "word[-1]=BOS", "word[+1]=main", "shape[+1]=Aa"} <= set(items[0])
    assert {"word=st", "comma=True", "word[-1]=main", "word[+1]=EOS"} <= set(items[2])
    assert address_items([]) == []


@pytest.mark.parametrize(("token", "shape"), [("Main,", "Aa,"), ("12BC", "99A"), ("McGrath", "AaAa"), ("", "")])
def test_shapes_keep_digits_and_shorten_words(token, shape):
    assert token_shape(token) == shape


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (112, "112th"), (121, "121st")]
)
def test_ordinals_are_english(number, text):
    assert ordinal(number) == text
