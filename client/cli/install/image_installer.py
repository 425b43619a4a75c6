# The server of the cell in which `cellblock add` fetches and unpacks an image: it runs skopeo and umoci, and nothing
# else. What it answers is untrusted, like the image. installer_server.py stands before it.

import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

OUT = pathlib.Path("/out")
TREE = OUT / "tree"
LAYOUT = OUT / "layout"
BUNDLE = OUT / "bundle"
MOST_OUTPUT = 16 * 1024
MOST_LAYERS = 128
MOST_CONFIG = 1024 * 1024
MOST_TEXT = 300
SHOWN = len("sha256-") + 12  # as much of a digest as a version has
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Failed(Exception):
    pass


class Digesting:
    """A file that is written to, and the SHA-256 of what was."""

    def __init__(self, file):
        self.file = file
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data):
        self.sha256.update(data)
        self.size += len(data)
        return self.file.write(data)

    def flush(self):
        self.file.flush()

    def digest(self):
        return "sha256:" + self.sha256.hexdigest()


def output_of(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failed((done.stderr or done.stdout)[-MOST_OUTPUT:].decode(errors="replace"))
    return done.stdout


def skopeo(*words):
    return output_of("skopeo", "--insecure-policy", "--override-os", "linux", *words)


def blob(digest):
    if not DIGEST.fullmatch(digest):
        raise Failed("the image names a blob by something other than its SHA-256")
    data = (LAYOUT / "blobs" / "sha256" / digest[7:]).read_bytes()
    if len(data) > MOST_CONFIG:
        raise Failed("the manifest or the configuration of the image is larger than 1 MiB")
    return data


def put_blob(data):
    digest = hashlib.sha256(data).hexdigest()
    (LAYOUT / "blobs" / "sha256" / digest).write_bytes(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}


def plain_members(archive):
    """What a cell can make: no device, no set-id bit, no owner, no attribute beyond a file's own."""
    for member in archive:
        if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            continue
        # Its owner looks into it while it grows.
        member.mode = member.mode & 0o777 | (0o700 if member.isdir() else 0o600)
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.pax_headers = {}
        if member.isreg():
            member.type = tarfile.REGTYPE  # a sparse one is written whole
        yield member


def rewrite_layer(layer):
    """The same layer of plain members, in the place of the old blob; and its digest unpacked."""
    if not DIGEST.fullmatch(layer["digest"]):
        raise Failed("the image names a layer by something other than its SHA-256")
    old = LAYOUT / "blobs" / "sha256" / layer["digest"][7:]
    fresh = LAYOUT / "fresh"
    with open(old, "rb") as source, open(fresh, "wb") as file:
        packed = Digesting(file)
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as compressed:
            unpacked = Digesting(compressed)
            with tarfile.open(fileobj=source, mode="r|*") as archive, \
                    tarfile.open(fileobj=unpacked, mode="w|", format=tarfile.PAX_FORMAT) as target:
                for member in plain_members(archive):
                    target.addfile(member, archive.extractfile(member) if member.isreg() else None)
    fresh.rename(fresh.with_name("blobs") / "sha256" / packed.digest()[7:])
    described = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": packed.digest(), "size": packed.size}
    return described, unpacked.digest()


def rewrite_image(manifest, config):
    """The layout with such layers: umoci would set bits that no cell may set."""
    made = {layer["digest"]: rewrite_layer(layer) for layer in {one["digest"]: one for one in manifest["layers"]}.values()}
    layers = [made[layer["digest"]] for layer in manifest["layers"]]
    config["rootfs"] = {"type": "layers", "diff_ids": [digest for _, digest in layers]}
    described = {**manifest["config"], **put_blob(json.dumps(config).encode())}
    fresh = {**manifest, "config": described, "layers": [layer for layer, _ in layers]}
    entry = {"mediaType": "application/vnd.oci.image.manifest.v1+json", **put_blob(json.dumps(fresh).encode()),
             "annotations": {"org.opencontainers.image.ref.name": "image"}}
    (LAYOUT / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    kept = {layer["digest"] for layer, _ in layers}
    for layer in manifest["layers"]:
        if layer["digest"] in kept:
            continue
        (LAYOUT / "blobs" / "sha256" / layer["digest"][7:]).unlink(missing_ok=True)


def pinned(reference, digest):
    """What a registry has under a name may be another image a moment later."""
    if not reference.startswith("docker://") or "@" in reference:
        return reference
    name, _, last = reference.rpartition("/")
    return f"{name}/{last.split(':')[0]}@{digest}"


def make_readable(tree):
    """Its owner can then copy it, whatever an archive says of modes."""
    os.chmod(tree, 0o755)
    for directory, names, files in os.walk(tree):
        for name in names + files:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                os.chmod(path, os.lstat(path).st_mode & 0o7777 | (0o700 if os.path.isdir(path) else 0o600))


def install(reference):
    raw = skopeo("inspect", "--raw", reference)
    digest = "sha256:" + hashlib.sha256(raw).hexdigest()
    skopeo("copy", "--quiet", pinned(reference, digest), f"oci:{LAYOUT}:image")
    manifest = json.loads(blob(json.loads((LAYOUT / "index.json").read_bytes())["manifests"][0]["digest"]))
    layers = len(manifest["layers"])
    if layers > MOST_LAYERS:
        raise Failed(f"the image has {layers} layers; allowed: at most {MOST_LAYERS}")
    config = manifest["config"]["digest"]
    text = blob(config)
    rewrite_image(manifest, json.loads(text))
    output_of("umoci", "unpack", "--rootless", "--image", f"{LAYOUT}:image", str(BUNDLE))
    TREE.mkdir()
    (TREE / "image.json").write_bytes(text)
    (TREE / "image.lock").write_text(f"{digest}\n{config}\n")
    make_readable(BUNDLE / "rootfs")
    (BUNDLE / "rootfs").rename(TREE / "rootfs")
    shutil.rmtree(LAYOUT)
    shutil.rmtree(BUNDLE)
    return digest


def installed(reference):
    try:
        return install(reference), False
    except Failed as error:
        return str(error), True
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OSError, EOFError, RecursionError,
            tarfile.TarError) as error:
        return f"the image is not one that can be read: {error!r}", True


def is_there(reference):
    """An error: the registry gave no answer to that question."""
    try:
        skopeo("inspect", "--raw", reference)
        return True
    except Failed as error:
        if any(word in str(error) for word in ("manifest unknown", "not found", "404", "no descriptor found")):
            return False
        raise


def digest_of(reference):
    return "sha256:" + hashlib.sha256(skopeo("inspect", "--raw", reference)).hexdigest()


def check(reference):
    """Says which image the registry has under that name now, and whether it still has the one in the lock file."""
    lock = (TREE / "image.lock").read_text().split("\n")[0]
    report = {"packages": 1, "findings": [], "newest": ""}
    try:
        has_name = is_there(reference)
        newest = digest_of(reference) if has_name else ""
        report["newest"] = newest.replace(":", "-")[:SHOWN]
        if newest != lock and not (has_name and is_there(pinned(reference, lock))):
            report["findings"].append({"kind": "withdrawn", "package": reference[:MOST_TEXT], "version": lock[:MOST_TEXT],
                                       "detail": "the registry has this image no more"})
    except Failed as error:
        return str(error), True
    (OUT / "registry.json").write_text(json.dumps(report))
    return "", False


serve("image", {"install": installed, "check": check})
