"""Template files of three kinds are told apart and understood; a fault is named with file, line and column."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastcrf.data.templates.dialects import load_template, parse_template, recognize
from fastcrf.data.templates.regex import RegexError, compiled, first_match
from fastcrf.data.templates.template import Cell, Operation
from fastcrf.exceptions import DataError
from reference import plain_templates


def pieces(text, kind):
    return [template.pieces for template in parse_template(text, kind).templates]


def test_crfpp_lines_become_text_and_cells():
    text = "# words\nU00:%x[-2,0]\n\nU01:%x[0,0]/%x[1,1]!\nU\nB\n"
    assert pieces(text, "crfpp") == [
        ("U00:", Cell(-2, 0)),
        ("U01:", Cell(0, 0), "/", Cell(1, 1), "!"),
        ("U",),
    ]
    assert parse_template(text, "crfpp").transitions
    assert not parse_template("U%x[0,0]", "crfpp").transitions


def test_wapiti_lines_become_text_cells_and_operations():
    text = 'U:%X[ +1, 0]  # comment\n*\nu:%t[@-1,2,"^\\u"]%M[-0x10,0,"\\"."]'
    assert pieces(text, "wapiti") == [
        ("u:", Cell(1, 0, Operation(lower=True))),
        ("*",),
        ("u:", Cell(-1, 2, Operation("t", "^\\u"), absolute=True), Cell(-16, 0, Operation("m", '\\".', True))),
    ]
    assert parse_template(text, "wapiti").transitions


def test_a_star_alone_is_a_bias_and_the_label_bigram():
    template = parse_template("*", "wapiti")
    assert template.transitions
    assert [each.pieces for each in template.templates] == [("*",)]


def test_a_script_of_crfsuite_is_read_and_not_run():
    script = "import os\nos.abort()\nfields = 'w y pos'\ntemplates = [[('w', 0)], (('pos', -1), ('w', 1)),]\n"
    assert pieces(script, "crfsuite") == [
        ("w[0]=", Cell(0, 0)),
        ("pos[-1]|w[1]=", Cell(-1, 2), "|", Cell(1, 0)),
        ("__BOS__",),
        ("__EOS__",),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("U01:%x[0,0]\nB", "crfpp"),
        ("# u\nU:%x[-1,0]/%x[0,0]", "crfpp"),
        ("u:%x[0,0]", "wapiti"),
        ("U:%x[0,0]\nb", "wapiti"),
        ("U:%X[0,0]", "wapiti"),
        ('U:%t[0,0,"a"]', "wapiti"),
        ("U:%x[@1,0]", "wapiti"),
        ("U:%x[+1,0]", "wapiti"),
        ("*", "wapiti"),
        ("fields = 'w y'\ntemplates = ((('w', 0),),)", "crfsuite"),
    ],
)
def test_the_kind_of_a_template_is_recognized(text, kind, tmp_path):
    assert recognize(text) == kind
    (tmp_path / "template").write_text(text + ("\nU:%x[0,0]" if kind == "wapiti" else ""))
    assert load_template(tmp_path / "template").kind == kind


def test_the_kind_can_be_recognized(tmp_path):
    (tmp_path / "template").write_bytes(b"U:%x[0,0] \r\nB\r\n")
    assert load_template(tmp_path / "template", "wapiti").templates[0].pieces == ("u:", Cell(0, 0))
    assert load_template(tmp_path / "template").templates[0].pieces == ("U:", Cell(0, 0), " ")
    with pytest.raises(
        DataError, match=r"^There is no kind of template 'mallet'; use one of crfpp, wapiti, crfsuite\.$"
    ):
        load_template(tmp_path / "template", "mallet")


LATER = "bigram templates with macros come later; use a plain B or b"


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("crfpp", "U%x[0,0]\nV01:%x[0,0]", "t:2:1: a template begins with U or B, not with 'V'"),
        ("crfpp", " U", "t:1:1: a template begins with U or B, not with ' '"),
        ("crfpp", "U01:%y[0,0]", "t:1:5: % begins a macro such as %x[-1,0]"),
        ("crfpp", "U01:%x[0,0]/%x[+1,0]", "t:1:13: % begins a macro such as %x[-1,0]"),
        ("crfpp", "U01:%x[0, 0]", "t:1:5: % begins a macro such as %x[-1,0]"),
        ("crfpp", "U01:%x[0,-1]", "t:1:5: % begins a macro such as %x[-1,0]"),
        ("crfpp", "U01:%x[0]", "t:1:5: % begins a macro such as %x[-1,0]"),
        ("crfpp", f"U01:%x[0,{'9' * 5000}]", "t:1:5: % begins a macro such as %x[-1,0]"),
        ("crfpp", f"U01:%x[{'9' * 5000},0]", "t:1:5: % begins a macro such as %x[-1,0]"),
        ("wapiti", f"u:%x[@{'9' * 5000},0]", "t:1:5: a macro continues with [offset,column"),
        ("wapiti", f"u:%x[0,{'9' * 5000}]", "t:1:17: the macro '%x[0,999999999' ends with ]; found '9'."),
        ("crfsuite", f"fields = 'w'\ntemplates = ((('w', {'9' * 5000}),),)", "t:2:"),
        ("crfpp", "U100%", "t:1:5: % begins a macro such as %x[-1,0]"),
        ("crfpp", "#\n\nU01:%x[-9,0]", "t:3:8: row -9 is more than 8 tokens away."),
        ("crfpp", "U\nB01:%x[0,0]", f"t:2:5: {LATER}"),
        ("crfpp", "B\nU\nB", "t:3:1: this is the second template of the label bigram; delete one of them."),
        ("crfpp", "B", "t holds no template with the label alone"),
        ("crfpp", "", "t holds no template with the label alone"),
        ("wapiti", "u\nx:%x[0,0]", "t:2:1: a pattern begins with u, b or *, not with 'x'"),
        ("wapiti", "u:%z[0,0]", "t:1:3: % begins one of %x %t %m %X %T %M; found '%z'."),
        ("wapiti", "u:%", "t:1:3: % begins one of %x %t %m %X %T %M; found '%'."),
        ("wapiti", "u:%x(0,0)", "t:1:5: a macro continues with [offset,column or [@place,column; found '(0,0)'."),
        ("wapiti", "u:%x[0 ,0]", "t:1:5: a macro continues with [offset,column"),
        ("wapiti", "u:%x[08,0]", "t:1:5: a macro continues with [offset,column"),
        ("wapiti", 'u:%x[0,0,"a"]', "t:1:9: the macro '%x[0,0' ends with ]; found ','."),
        ("wapiti", "u:%x[0,0", "t:1:9: the macro '%x[0,0' ends with ]; found ''."),
        ("wapiti", "u:%x[-2000,0]", "t:1:6: offset -2000 is more than 1,000 tokens away."),
        ("wapiti", "u:%t[0,0]", 't:1:9: %t needs a regular expression between quotes: ,"...".'),
        ("wapiti", 'u:%M[0,0,"a\\"]', 't:1:9: %M needs a regular expression between quotes: ,"...".'),
        ("wapiti", 'u:%t[0,0,"ab**"]', "t:1:14: in the regular expression '*' follows no character; write '\\*'"),
        ("wapiti", 'u:%t[0,0,"^?"]', "t:1:12: in the regular expression '?' follows no character"),
        ("wapiti", "u\n*:%x[0,0]", f"t:2:3: {LATER}"),
        ("wapiti", "u\nb\n*", "t:3:1: this is the second template of the label bigram"),
        ("crfsuite", "templates = (", "t:1:13: this is not a script with templates = (...)."),
        ("crfsuite", "fields = 'w y'", "t:1:1: the script sets no templates"),
        ("crfsuite", "templates = ()", "t:1:1: the script sets no fields"),
        ("crfsuite", "fields = 'w'\ntemplates = 3", "t:2:13: templates must be a tuple of templates."),
        ("crfsuite", "fields = 3\ntemplates = ()", "t:1:10: fields must be the names of the columns in one string"),
        ("crfsuite", "fields = 'w y'\ntemplates = (\n  (('y', 0),),)", "t:3:3: there is no field 'y'; fields are w."),
        ("crfsuite", "fields = 'w y'\ntemplates = ((),)", "t:2:14: a template must be pairs of a field and an offset"),
        (
            "crfsuite",
            "fields = 'w'\ntemplates = (('w', 0),)",
            "t:2:14: a template must be pairs of a field and an offset",
        ),
        (
            "crfsuite",
            "fields = 'w'\ntemplates = ((('w', 5000),),)",
            "t:2:14: offset 5000 is more than 1,000 tokens away.",
        ),
        ("crfsuite", "fields = 'w'\ntemplates = (f(),)", "t:2:14: fields and templates must be literals"),
    ],
)
def test_a_fault_is_named_with_file_line_and_column(kind, text, message):
    with pytest.raises(DataError) as caught:
        parse_template(text, kind, "t")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@given(st.sampled_from(["crfpp", "wapiti", "crfsuite"]), st.text("Uub*B%xtmX[]0123,@-+\"\\.$^ #\n(')=", max_size=30))
def test_any_text_is_understood_or_rejected(kind, text):
    with suppress(DataError):
        parse_template(text, kind)


def test_files_that_cannot_be_read_are_one_sentence(tmp_path):
    with pytest.raises(DataError, match=r"^Cannot read .*missing: No such file or directory\.$"):
        load_template(tmp_path / "missing")


symbols = st.sampled_from([*"aB1.- $^", *(f"\\{c}" for c in "dalupswDALUPSW.*?\\$")])
regexes = st.builds(
    lambda first, middle, last: first + "".join(symbol + times for symbol, times in middle) + last,
    st.sampled_from(["", "^"]),
    st.lists(st.tuples(symbols.filter(lambda s: s != "^"), st.sampled_from(["", "", "*", "?"])), max_size=5),
    st.sampled_from(["", "$"]),
)
texts = st.text("aaBb1-. é$*?\\", max_size=8)


@given(regexes, texts)
@example("a?ab", "ab")
@example("^.?.?", "éa")
@example("\\S*", "")
def test_regular_expressions_match_what_wapiti_matches(regex, text):
    expected = plain_templates.match(regex, plain_templates.as_bytes(text))
    assert first_match(regex, text.encode()) == (None if expected is None else expected.encode("latin-1"))


@pytest.mark.parametrize(
    ("regex", "text", "match"),
    [
        ("a*b", "xaaab", b"aaab"),
        ("a*", "aaa", b""),  # as little as possible
        ("a?", "aaa", b"a"),  # what is possible
        (".*$", "abc", b"abc"),
        ("$a", "x$a", b"$a"),  # an anchor only at the end
        ("a^", "a^", b"a^"),
        ("\\p", "a_", b"_"),
        ("é*x", "\u00e9x", "\u00e9x".encode()),  # the last byte is repeated
        ("[a]", "[a]", b"[a]"),
        ("a+", "aa", None),
    ],
)
def test_the_subset_in_examples(regex, text, match):
    assert first_match(regex, text.encode()) == match


def test_an_escape_needs_a_character():
    with pytest.raises(RegexError, match=r"stands at the end"):
        compiled("ab\\")
