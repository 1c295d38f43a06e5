"""Networks from files: what is read, and what is said of what cannot be."""

import json

import pytest

from discotext.decoding.reading import read_networks, rescore_list


def read(tmp_path, content):
    file = tmp_path / "input"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_networks(file))


def words_of(network):
    return [[one.word for one in row] for row in network.positions]


def test_sausages_are_read_with_ids_scores_and_gaps(tmp_path):
    lines = [
        {"id": "u1", "positions": [[{"word": "a", "score": -0.1}, {"word": "", "score": -2}], ["film"]]},
        {"positions": [["x"]], "gaps": ["«", "»"]},
        {"id": 7, "positions": []},
    ]
    one, two, three = read(tmp_path, "\ufeff" + "\n\n".join(map(json.dumps, lines)))
    assert (one.id, words_of(one), one.positions[0][1].score) == ("u1", [["a", ""], ["film"]], -2.0)
    assert (two.id, two.text((0,))) == ("3", "«x»")
    assert (three.id, len(three)) == ("7", 0)


POSITIONS = '{{"positions": [["ok"], {}]}}'
SCORE = POSITIONS.format('[{{"word": "a", "score": {}}}]')
NBEST = '{{"nbest": ["b", {{"text": "a", "score": {}}}]}}'
# A bad line, and the values that its message names.
BAD = {
    "empty position": (POSITIONS.format("[]"), ["position 1"]),
    "duplicate word": (POSITIONS.format('["a", "b", "a"]'), ["position 1", "'a'"]),
    **{
        f"{value} in {kind}": (line.replace("{}", value).replace("{{", "{").replace("}}", "}"), [place, "'a'", shown])
        for kind, line, place in (("positions", SCORE, "position 1"), ("nbest", NBEST, "entry 1"))
        for value, shown in [
            ("NaN", "NaN"), ("Infinity", "Infinity"), ("1e999", "Infinity"), ("-1e308", "-1e+308"), ("1e308", "1e+308"),
            ("1" + "0" * 400, "1000"), ('"x"', '"x"'), ("true", "true"), ("null", "null"),
        ]
    },
    "digits": (SCORE.replace("{}", "1" * 5000).replace("{{", "{").replace("}}", "}"), ["digits"]),
    "probabilities": (POSITIONS.format('[{"word": "a", "score": 0.9}, {"word": "b", "score": 0.1}]'), ["logarithms"]),
    "no word": (POSITIONS.format('[{"score": 1}]'), ["position 1", "score"]),
    "a number": (POSITIONS.format("[7]"), ["position 1", "7"]),
    "no list": (POSITIONS.format("7"), ["7"]),
    "not JSON": ('{"positions": [["a"]', ["character 21"]),
    "neither": ('{"id": "1"}', ["positions", "nbest"]),
    "a list": ("[]", ["positions"]),
    "wrong id": ('{"id": null, "positions": []}', ["null"]),
    "empty nbest": ('{"nbest": []}', ["empty"]),
    "wrong gaps": ('{"positions": [["a"]], "gaps": [""]}', ["1 gaps"]),
    "gaps of numbers": ('{"positions": [["a"]], "gaps": [1, 2]}', ["gaps"]),
    "wrong span": ('{"positions": [[{"word": "a", "span": 2}]]}', ["position 0", "'a'", "2 positions"]),
    "span of words": ('{"positions": [[{"word": "a", "span": "x"}]]}', ["position 0", '"x"']),
    "deep": ('{"positions": ' + "[" * 100_000, []),
}  # fmt: skip


@pytest.mark.parametrize(("line", "values"), BAD.values(), ids=BAD)
def test_a_bad_line_is_named_with_its_values(tmp_path, line, values):
    with pytest.raises(ValueError) as caught:
        read(tmp_path, '{"positions": [["fine"]]}\n' + line)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'input'}, line 2: ")
    assert all(value in said for value in values), said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"", "empty"),
        (b"  \n ", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "line 1"),
        (b'{"positions": [["a\0"]]}', "line 1: .*NUL byte"),
        (b'{"positions": [["\xff"]]}', "byte 18"),
        (b"plain text\n", "'plain text'"),
        (b"VERSION=1.0\nN=4 L=4\n", "lattice"),
    ],
)
def test_what_is_no_file_of_networks_is_refused(tmp_path, content, value):
    with pytest.raises(ValueError, match=value):
        read(tmp_path, content)


def test_a_line_without_an_end_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("discotext.decoding.reading.LONGEST", 2_000_000)
    read_so_far = []
    (tmp_path / "long").write_bytes(b'{"positions": ' + b"[" * 10_000_000)
    with pytest.raises(ValueError, match="line 1"):
        list(read_networks(tmp_path / "long", watch=read_so_far.append))
    assert max(read_so_far) <= 2_000_000


def test_an_n_best_list_is_a_choice_among_its_texts(tmp_path):
    line = {"best": "a  film", "nbest": [{"text": "the film", "score": -3}, {"text": "a film", "score": -1}, "a firm"]}
    (network,) = read(tmp_path, json.dumps(line))
    assert words_of(network) == [["a film", "the film", "a firm"]]
    assert [network.text((i,)) for i in range(3)] == ["a film", "the film", "a firm"]
    assert rescore_list("1", [("a", -2.0), ("a", -1.0)]).positions[0][0].score == -1.0
