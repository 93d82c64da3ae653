"""The default attributes of columns: models depend on every name, so they are written out."""

from __future__ import annotations

from fastcrf.data.encoding.column_attributes import column_items, shape


def test_every_attribute_of_a_small_sentence():
    first, second, third = column_items([["The", "DT"], ["cat", "NN"], ["2b", "CD"]])
    expected = """
        bias 0[-1]=The 0[0]=cat 0[1]=2b 0[-1|0]=The|cat 0[0|1]=cat|2b
        1[-1]=DT 1[0]=NN 1[1]=CD 1[-1|0]=DT|NN 1[0|1]=NN|CD
        low[-1]=the low[0]=cat low[1]=2b shape[-1]=Xx shape[0]=x shape[1]=dx
        pre1[0]=c pre2[0]=ca pre3[0]=cat suf1[0]=t suf2[0]=at suf3[0]=cat
    """
    assert sorted(second) == sorted(expected.split())
    assert {"__BOS__", "0[0]=The", "0[1]=cat", "0[2]=2b", "0[0|1]=The|cat"} <= set(first)
    assert {"__EOS__", "0[-2]=The", "0[-1]=cat", "0[0]=2b", "pre2[0]=2b"} <= set(third)
    assert not any("-" in name for name in first)


def test_a_sentence_of_one_token_begins_and_ends_there():
    [item] = column_items([["Oslo"]])
    assert {"__BOS__", "__EOS__"} <= set(item)
    assert "suf4[0]=Oslo" in item


def test_no_tokens_no_items():
    assert column_items([]) == []


def test_affixes_are_cut_from_the_token_only():
    [item] = column_items([["abcde", "abcde"]])
    affixes = [name for name in item if name.startswith(("pre", "suf"))]
    expected = "pre1[0]=a pre2[0]=ab pre3[0]=abc pre4[0]=abcd suf1[0]=e suf2[0]=de suf3[0]=cde suf4[0]=bcde"
    assert affixes == expected.split()


def test_shape_shortens_letters_but_counts_digits():
    assert shape("McDonald's") == "XxXx'x"
    assert shape("94110-1234") == "ddddd-dddd"
    assert shape("Ünï") == "Xx"
    assert shape("北京") == "北京"
