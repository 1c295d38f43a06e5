"""JUnit XML: the figures of a run as test cases, for GitLab, Jenkins and the actions that show test results on GitHub.

A suite for each budget, a test case in it for each solver. The elements are those that all of these read: `properties`
stand in the suite, as the older schemas want it, and the figures of a test case also in its `system-out`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from discotext.experiment.figures_text import describe_budget
from discotext.experiment.summary import Summary
from discotext.experiment.threshold import Check, check_accuracy
from discotext.support.redaction import escape_unprintable

# XML 1.0 has no way to write any other character, not even as a number.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SHOWN = ("n", "budget", "accept", "space", "seed", "version", "changeable_words", "unchangeable_texts", "queries")


def make_junit(
    summaries: Sequence[Summary], at_least: float | None = None, low: bool = False, flipped: Iterable[str] = ()
) -> bytes:
    """JUnit XML in UTF-8. A test case fails if the accuracy under attack is below `at_least`; without one none fails.

    low: compare the lower end of the 95 % interval. flipped: lines that failures show, such as flipped texts.

    A test case whose victim failed on most texts, or without any text, is an error.

    >>> print(make_junit([]).decode())
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites name="discotext" tests="0" failures="0" errors="0" skipped="0" time="0.000" />
    """
    shown = list(flipped)
    suites = [_make_suite(summary, check_accuracy([summary], at_least, low), shown) for summary in summaries]
    root = ET.Element("testsuites", name="discotext")
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.attrib[name]) for suite in suites)))
    root.set("time", _seconds(sum(float(suite.attrib["time"]) for suite in suites)))
    root.extend(suites)
    ET.indent(root)
    found: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return found


def clean(text: object) -> str:
    """The text with every character that XML cannot hold, or that would disturb a reader, as an escape code.

    >>> clean("a\\x1b[31m \\ufffe <b>")
    'a\\\\x1b[31m \\\\ufffe <b>'
    """
    return NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), escape_unprintable(str(text)))


def _make_suite(summary: Summary, checks: Sequence[Check], flipped: Sequence[str]) -> ET.Element:
    cases = [_make_case(check, flipped) for check in checks]
    where = clean(f"{summary.victim} on {summary.data}")
    suite = ET.Element(
        "testsuite", name=f"{where}, at most {describe_budget(summary.budget)} changed", tests=str(len(cases))
    )
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", _seconds(sum(check.figures.seconds for check in checks)))
    figures = summary.as_dict()
    values = {name: figures.get(name) for name in ("victim", "data", *SHOWN)}
    for check in checks:
        of_solver = figures["solvers"][check.solver]
        values |= {f"{check.solver}.{name}": value for name, value in of_solver.items() if not isinstance(value, dict)}
        if check.at_least is not None:
            values |= {"required": check.at_least, "required_of": "interval" if check.low else "accuracy"}
    properties = ET.SubElement(suite, "properties")
    for name, value in values.items():
        if value is not None:
            ET.SubElement(properties, "property", name=clean(name), value=clean(value))
    suite.extend(cases)
    return suite


def _make_case(check: Check, flipped: Sequence[str]) -> ET.Element:
    said = clean(check)
    # Readers take dots for packages, as in `a.b.C`: a file name must not be taken apart.
    place = clean(f"{check.summary.victim} on {check.summary.data}").replace(".", "·")
    case = ET.Element(
        "testcase", classname=f"discotext.{place}", name=clean(check.name), time=_seconds(check.figures.seconds)
    )
    if check.trouble is not None:
        ET.SubElement(case, "error", message=said, type="VictimFailed").text = said
    elif not check.passed:
        lines = [said, *(["some flipped texts:"] if flipped else []), *map(clean, flipped)]
        ET.SubElement(case, "failure", message=said, type="AccuracyTooLow").text = "\n".join(lines)
    ET.SubElement(case, "system-out").text = said
    return case


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
