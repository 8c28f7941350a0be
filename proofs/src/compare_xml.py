"""Reads answers back with Python's XML parser and compares them with the same answers in JSON.

Usage: compare_xml.py DIRECTORY, which holds NAME.json and NAME.xml for every answer. Prints what differs and a line
of figures at the end; the exit code is 0 where nothing differs.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
ROOT = '<root xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


class Number(str):
    """A number as it was written, so that 1.0 and 1 are told apart."""


class Pairs(list):
    """An object with its members in order, doubles included."""


def load(text):
    return json.loads(text, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number)


def shown(character):
    """The character that XML must show for this one: itself, or U+FFFD where XML forbids it."""
    code = ord(character)
    allowed = code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
    return character if allowed else "\ufffd"


def unescaped(name):
    """The name behind `_xHHHH_`, which stands for a UTF-16 code unit, so that two of them can be one character."""
    units = re.sub("_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match.group(1), 16)), name)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Comparison:
    def __init__(self, name):
        self.name = name
        self.faults = []
        self.members = 0
        self.empty_lists = 0
        self.empty_objects = 0

    def fault(self, path, text):
        self.faults.append(f"{self.name}: {path}: {text}")

    def members_of(self, path, pairs, element):
        """The members of an object: elements of their names, in order, a list being as many as it has items."""
        if (element.text or "").strip():
            self.fault(path, f"text between members: {element.text!r}")
        expected = []
        for name, value in pairs:
            if isinstance(value, list) and not isinstance(value, Pairs):
                if value:
                    expected += [(name, f"{path}/{name}[{at}]", item) for at, item in enumerate(value)]
                else:
                    self.members += 1
                    self.empty_lists += 1
                    expected.append((name, f"{path}/{name}", []))
            else:
                expected.append((name, f"{path}/{name}", value))
        found = list(element)
        if len(found) != len(expected):
            names = [unescaped(child.tag) for child in found]
            self.fault(path, f"{len(expected)} elements expected, {len(found)} found: {names}")
            return
        for (name, where, value), child in zip(expected, found):
            if unescaped(child.tag) != name:
                self.fault(where, f"the element is called {child.tag!r}")
            if (child.tail or "").strip():
                self.fault(where, f"text after the element: {child.tail!r}")
            self.value(where, value, child)

    def value(self, path, value, element):
        self.members += 1
        expected = {NIL: "true"} if value is None else {}
        if element.attrib != expected:
            self.fault(path, f"attributes {element.attrib}")
        if isinstance(value, Pairs):
            if not value:
                self.empty_objects += 1
            self.members_of(path, value, element)
            return
        if len(element):
            self.fault(path, f"has elements, JSON has {value!r}")
            return
        text = element.text or ""
        if value is None or value == [] and isinstance(value, list):
            wanted = ""
        elif isinstance(value, bool):
            wanted = "true" if value else "false"
        elif isinstance(value, list):
            self.fault(path, "a list in a list, which the contract does not provide for")
            return
        else:
            wanted = "".join(map(shown, value))
        if path.endswith("/download"):
            # A signed address carries the second in which it was made.
            text, wanted = text.split("?")[0], wanted.split("?")[0]
        if text != wanted:
            self.fault(path, f"{text!r} in XML, {wanted!r} expected")

    def run(self, json_bytes, xml_bytes):
        xml = xml_bytes.decode("utf-8")
        if not xml.startswith(DECLARATION) or not xml[len(DECLARATION):].lstrip("\n").startswith(ROOT):
            self.fault("", f"begins with {xml[:140]!r}")
        try:
            root = ElementTree.fromstring(xml_bytes)
        except ElementTree.ParseError as error:
            self.fault("", f"is no XML: {error}: {xml[:400]!r}")
            return
        tree = load(json_bytes.decode("utf-8"))
        if root.tag != "root" or root.attrib:
            self.fault("", f"the root is {root.tag!r} with {root.attrib}")
        self.members_of("", tree, root)
        # The parser does not tell `<name/>` from `<name></name>`; the text does, `<` being escaped within it.
        short = len([tag for tag in re.findall(r"<[^<>!?]*/>", xml) if "xsi:nil" not in tag])
        if not self.empty_lists <= short <= self.empty_lists + self.empty_objects:
            self.fault("", f"{self.empty_lists} empty lists in JSON, {short} elements of the form <name/> in XML")


def main():
    directory = pathlib.Path(sys.argv[1])
    answers = members = 0
    faults = []
    for path in sorted(directory.glob("*.json")):
        comparison = Comparison(path.stem)
        comparison.run(path.read_bytes(), path.with_suffix(".xml").read_bytes())
        answers += 1
        members += comparison.members
        faults += comparison.faults
    for fault in faults[:20]:
        print(fault)
    print(f"{answers} answers, {members} members, {len(faults)} faults")
    return 1 if faults or not members else 0


if __name__ == "__main__":
    sys.exit(main())
