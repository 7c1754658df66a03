"""Every exercise has its text, every text its use, and one language says what another says."""

import ast
import json
import re
import shutil

import pytest
from places import ROOT

from rope_course import language
from rope_course.__main__ import main
from rope_course.exercises import EXERCISES, verdict, words
from rope_ref.faults import defects

ALL = list(EXERCISES.values())
LESSONS = sorted({each.lesson for each in ALL})
LANGUAGES = sorted(folder for folder in words.TEXT.iterdir() if folder.is_dir())
ENGLISH = words.TEXT / "en"


@pytest.fixture
def texts_elsewhere(tmp_path, monkeypatch):
    """A copy of all texts, to be spoiled."""
    shutil.copytree(words.TEXT, tmp_path / "text")
    monkeypatch.setattr(words, "TEXT", tmp_path / "text")
    monkeypatch.setattr(language, "chosen", None)
    monkeypatch.delenv(language.VARIABLE, raising=False)
    return tmp_path / "text"


# One language ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_has_the_texts_of_its_exercises_in_their_order_and_no_others(lesson):
    text = words.read(ENGLISH / f"lesson{lesson:02d}.toml")
    assert list(text) == [each.name for each in ALL if each.lesson == lesson]


def test_there_is_one_file_a_lesson_and_one_for_all():
    assert sorted(path.stem for path in ENGLISH.iterdir()) == [*(f"lesson{n:02d}" for n in LESSONS), "shared"]


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_each_text_holds_what_its_exercise_needs_and_no_more(each):
    needed = {"question", "hint", "why"} | ({"sentences"} if each.truths else {"solution"})
    assert needed <= set(each.text) <= needed | {"advice", "starter", "says"} and bool(each.text.get("says", True))
    assert len(each.text.get("sentences", ())) == len(each.truths)
    assert all(set(sentence) == {"text", "pointer"} for sentence in each.text.get("sentences", ()))


def constants(lesson):
    """Every text in the module of a lesson, docstrings among them, and in the checkers that lessons share."""
    paths = [ROOT / "rope_course" / "exercises" / f"{name}.py" for name in (f"lesson{lesson:02d}", "checkers")]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_message_is_said_by_a_checker(lesson):
    keys = {key for each in ALL if each.lesson == lesson for key in each.text.get("says", ())}
    assert keys - constants(lesson) == set()


def said(tree):
    """The keys that a module names where it can be seen that they are keys."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value:
            branches = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
            yield from (branch.value for branch in branches if isinstance(branch, ast.Constant))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("say", "must", "must_not"):
            yield from (each.value for each in node.args if isinstance(each, ast.Constant))


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_key_that_a_checker_says_is_a_message(lesson):
    path = ROOT / "rope_course" / "exercises" / f"lesson{lesson:02d}.py"
    keys = {key for key in said(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(key, str)}
    messages = {key for each in ALL if each.lesson == lesson for key in each.text.get("says", ())}
    shared = {key for section in words.file("shared").values() for key in section}
    assert keys - messages - shared == set()


@pytest.mark.parametrize("name", defects.DEFECTS)
def test_lesson_shows_a_defect_and_its_repair_as_the_reference_has_them(name):
    codes = [code.strip() for code in vars(defects).values() if isinstance(code, str)]
    assert {EXERCISES[name].starter, EXERCISES[name].solution} <= set(codes)


def test_exercise_without_a_text_is_named(texts_elsewhere):
    (texts_elsewhere / "en" / "lesson01.toml").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"have a text in en/lesson01.toml, got none for 'mirror_score'"):
        verdict("mirror_score", 5)


# Several languages -----------------------------------------------------------------------------------------------


def flat(entry, at=""):
    """Every text below an entry, by its place."""
    if isinstance(entry, str):
        return {at: entry}
    items = entry.items() if isinstance(entry, dict) else enumerate(entry)
    return {place: text for key, value in items for place, text in flat(value, f"{at}/{key}").items()}


KEPT = re.compile(r"`[^`]+`|\{\w+\}|check\([^)]*\)|\d+(?:[.,]\d+)*")  # inline code, what is filled in, numbers


def kept(place, text):
    """What no language changes: of code all but its comments, of prose its inline code and its numbers."""
    is_code = place.endswith(("/starter", "/solution"))
    return re.sub(" *#.*", "", text) if is_code else sorted(KEPT.findall(text))


def unlike(ours, theirs):
    """The places where the texts of two languages do not say the same things."""
    one, other = (flat({path.stem: words.read(path) for path in folder.glob("*.toml")}) for folder in (ours, theirs))
    missing = one.keys() ^ other.keys()
    return sorted(missing | {at for at in one.keys() - missing if kept(at, one[at]) != kept(at, other[at])})


@pytest.mark.parametrize("folder", LANGUAGES, ids=lambda folder: folder.name)
def test_each_language_says_what_english_says(folder):
    assert unlike(ENGLISH, folder) == []


def in_another(text):
    """Put a text into a language of one letter, beside what no language changes."""
    pieces = re.split(f"({KEPT.pattern})", text)
    return "".join(piece if KEPT.fullmatch(piece) else re.sub("[A-Za-z]+", "字", piece) for piece in pieces)


def stub(entry, at=""):
    """Put every text below an entry into another language; of code only the comments."""
    if isinstance(entry, dict):
        return {key: stub(value, f"{at}/{key}") for key, value in entry.items()}
    if isinstance(entry, list):
        return [stub(value, at) for value in entry]
    is_code = at.endswith(("/starter", "/solution"))
    return re.sub("#.*", "# 字", entry) if is_code else in_another(entry)


def as_toml(value):
    """Write a value in one line of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@pytest.fixture
def stub_language(texts_elsewhere):
    """The texts of a language that is not there: `plant(file, change)` writes it, with one file changed."""

    def plant(name="shared", change=lambda entry: None):
        (texts_elsewhere / "zz").mkdir()
        for path in ENGLISH.glob("*.toml"):
            entry = stub(words.read(path))
            if path.stem == name:
                change(entry)
            lines = [f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in entry.items()]
            (texts_elsewhere / "zz" / path.name).write_text("".join(lines), encoding="utf-8")
        return texts_elsewhere / "zz"

    return plant


def test_stub_of_another_language_says_what_english_says(stub_language):
    folder = stub_language()
    assert unlike(ENGLISH, folder) == []
    assert "字" in (folder / "lesson01.toml").read_text(encoding="utf-8")


def replace(*place, old, new):
    """Make a change of one text."""

    def change(entry):
        for key in place[:-1]:
            entry = entry[key]
        assert old in entry[place[-1]]
        entry[place[-1]] = entry[place[-1]].replace(old, new)

    return change


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("lesson01", lambda entry: entry["mirror_score"]["says"].pop("even"), "mirror_score/says/even"),
        ("lesson01", lambda entry: entry["mirror_score"]["says"].update(more="字"), "mirror_score/says/more"),
        ("lesson01", lambda entry: entry["score_2d"].pop("hint"), "score_2d/hint"),
        ("lesson01", replace("mirror_score", "hint", old="45", new="46"), "mirror_score/hint"),
        ("lesson01", replace("mirror_score", "question", old="`k = (3, 1)`", new="字"), "mirror_score/question"),
        ("lesson01", replace("score_2d", "solution", old="x[1] * sin", new="x[0] * sin"), "score_2d/solution"),
        ("lesson03", replace("mend_speeds", "says", "start", old="{speed}", new="字"), "mend_speeds/says/start"),
        ("shared", replace("verdicts", "not_answered", old='"hint"', new='"字"'), "verdicts/not_answered"),
    ],
)
def test_what_another_language_leaves_out_is_found(stub_language, name, change, place):
    assert unlike(ENGLISH, stub_language(name, change)) == [f"/{name}/{place}"]


def test_file_that_another_language_lacks_is_found(stub_language):
    folder = stub_language()
    (folder / "lesson09.toml").unlink()
    assert unlike(ENGLISH, folder) == sorted(flat({"lesson09": words.read(ENGLISH / "lesson09.toml")}))


def test_language_is_that_of_the_environment_or_the_one_in_use(stub_language, monkeypatch):
    stub_language()
    english = verdict("mirror_score", -5)
    assert english.startswith("That would be so")
    monkeypatch.setenv(language.VARIABLE, "zz")
    assert verdict("mirror_score", -5).startswith("字 字 字 字")
    language.use("en")
    assert verdict("mirror_score", -5) == english
    language.use(None)
    assert EXERCISES["mirror_score"].markdown.startswith("**字 1.3 (字).** 字 字 `q = (1, 2)`")


def test_language_that_is_not_there_is_refused_in_one_line(texts_elsewhere, capsys):
    language.use("xx")
    with pytest.raises(FileNotFoundError, match="language must be one of en, got 'xx'"):
        verdict("mirror_score", -5)
    assert main(["exercises", "--lesson", "1"]) == 2
    assert capsys.readouterr().err == "rope-course exercises: language must be one of en, got 'xx'\n"
