#!/usr/bin/env python3
"""What ctest found, in a form to add up and to read at the end of a long log.

    tests/report.py REPORT.xml      prints `TOTAL FAILED SKIPPED`, then each failed test's name and the end
                                    of what it printed
"""
import sys
import xml.etree.ElementTree as xml

LINES = 40  # of each failed test; a log that is cut from the front still shows why
COLUMNS = 300


def main():
    suite = xml.parse(sys.argv[1]).getroot()
    print(suite.get("tests"), suite.get("failures"), suite.get("skipped"))
    for case in suite.iter("testcase"):
        if case.get("status") != "fail":
            continue
        print(f"failed: {case.get('name')}")
        for line in (case.findtext("system-out") or "").splitlines()[-LINES:]:
            print(f"    {line[:COLUMNS]}")


main()
