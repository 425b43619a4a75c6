# What an index of PyPI says of the packages of a lock file: whether it still has them, what it has withdrawn, and the
# newest version. pip_installer.py follows in the same file, installer_server.py stands before it.

import base64
import html.parser
import json
import netrc
import os
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request

from pip._vendor import certifi
from pip._vendor.packaging.version import InvalidVersion, Version

MOST_PACKAGES = 5000
MOST_FINDINGS = 200
MOST_DOCUMENT = 64 * 1024 * 1024
MOST_TEXT = 300
ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.1, text/html;q=0.01"
LOCKED = re.compile(r"(\S+)==(\S+) --hash=(?:sha256:([0-9a-f]{64}))?")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class Links(html.parser.HTMLParser):
    """The files of a page of links (PEP 503), as the JSON form (PEP 691) has them."""

    def __init__(self):
        super().__init__()
        self.files = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag != "a" or not given.get("href"):
            return
        place, _, digest = given["href"].partition("#")
        hashes = {"sha256": digest[7:]} if digest.startswith("sha256=") else {}
        yanked = given.get("data-yanked") or "data-yanked" in given
        self.files.append({"filename": place.rpartition("/")[2], "hashes": hashes, "yanked": yanked,
                           "provenance": given.get("data-provenance")})


def opener():
    proxy = os.environ.get("PIP_PROXY")
    handlers = [urllib.request.ProxyHandler({"http": proxy, "https": proxy} if proxy else {})]
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or certifi.where())
    return urllib.request.build_opener(*handlers, urllib.request.HTTPSHandler(context=context))


def add_login(request):
    """Of the index, as pip has it; nobody gets it who is redirected to."""
    file = os.environ.get("NETRC")
    host = urllib.parse.urlsplit(request.full_url).netloc.split(":")[0]
    login = netrc.netrc(file).authenticators(host) if file else None
    if login:
        pair = base64.b64encode(f"{login[0]}:{login[2]}".encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {pair}")


def files_of(name):
    """None: the index has no such package."""
    address = f"{os.environ['PIP_INDEX_URL'].rstrip('/')}/{normal(name)}/"
    request = urllib.request.Request(address, headers={"Accept": ACCEPT})
    add_login(request)
    try:
        with opener().open(request, timeout=60) as answer:
            text = answer.read(MOST_DOCUMENT + 1)
            is_json = "json" in answer.headers.get("Content-Type", "")
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise
    if len(text) > MOST_DOCUMENT:
        raise ValueError(f"{name}: the index's answer is longer than 64 MiB")
    if is_json:
        return json.loads(text)["files"]
    links = Links()
    links.feed(text.decode(errors="replace"))
    return links.files


# Of a wheel's name: NAME-VERSION-...
def version_of(file):
    parts = file["filename"].split("-")
    try:
        return Version(parts[1]) if file["filename"].endswith(".whl") else None
    except (IndexError, InvalidVersion):
        return None


def newest_of(files):
    found = {version_of(file) for file in files if not file.get("yanked")} - {None}
    return str(max((one for one in found if not one.is_prerelease), default=max(found, default="")))


# The file that was installed, or one of its version where the index gives no digests.
def matching(files, version, digest):
    of_version = [file for file in files if version_of(file) == Version(version)]
    with_digest = [file for file in of_version if file.get("hashes", {}).get("sha256")]
    if not digest or not with_digest:
        return of_version, of_version
    return [file for file in with_digest if file["hashes"]["sha256"] == digest], of_version


def look_at(files, version, digest, report):
    """What is to be said of one package: kind and detail, or None."""
    same, of_version = matching(files or [], version, digest)
    if not of_version:
        return "withdrawn", "the index has this version no more"
    if not same:
        return "altered", "the index has another archive under this version now"
    report["attested"] += any(file.get("provenance") for file in same)
    reason = next((file["yanked"] for file in same if file.get("yanked")), None)
    if reason:
        return "withdrawn", "yanked" + (f": {reason}" if isinstance(reason, str) else "")
    return None


def registry_report(lock, wanted):
    """`wanted`: the package that was asked for, as pip takes it."""
    packages = [match.groups() for match in map(LOCKED.match, lock.splitlines()) if match]
    if len(packages) > MOST_PACKAGES:
        raise ValueError(f"more than {MOST_PACKAGES} packages")
    own = normal(wanted.partition("==")[0])
    report = {"packages": len(packages), "signed": 0, "attested": 0, "has_keys": False}
    found = []
    for name, version, digest in packages:
        files = files_of(name)
        if normal(name) == own:
            report["newest"] = newest_of(files or [])
        said = look_at(files, version, digest, report)
        if said:
            found.append({"kind": said[0], "package": name[:MOST_TEXT], "version": version[:MOST_TEXT], "detail": said[1][:MOST_TEXT]})
    # "altered" first: what refuses an installation is never among those left out.
    found.sort(key=lambda one: (one["kind"], one["package"]))
    report["findings"] = found[:MOST_FINDINGS]
    report["left_out"] = len(found) - len(report["findings"])
    return report
