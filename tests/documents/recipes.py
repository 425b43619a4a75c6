#!/usr/bin/env python3
"""docs/recipes.md, made of the recipes: recipes.py prints it."""

import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEAD = """# Recipes

What [`cellblock add`](add.md) knows of packages of npm, and of [remote servers](remote.md). One without a recipe gets what its line and its options name. Names are compared whole. The
files are in `share/cellblock/recipes`; an administrator may add more there (`@scope+name.toml`, of a remote server `https+++host.toml`: `package`, `paths`, `needs`, `egress`, `secrets`, `variables`,
`arguments`, `profile`, `limits`).

| package | gets | needs `--env` |
|---|---|---|
"""

REMOTE = """
## Remote servers

By their hosts. From their public documentation, and untried: nothing here has an account there. Each reaches its own host besides, and asks for its
user in a browser (`cellblock auth`) unless a header is named.

| address | gets |
|---|---|
"""


def listed(words):
    return ", ".join(f"`{word}`" for word in words)


def given(recipe):
    parts = []
    if "profile" in recipe:
        parts.append(f"profile `{recipe['profile']}`")
    if recipe.get("paths") == "write":
        parts.append("directories among its arguments for writing")
    if "needs" in recipe:
        needs = recipe["needs"]
        parts.append(f"needs `{needs}`" if needs.startswith("--") else f"needs {needs}")
    if "egress" in recipe:
        parts.append(f"network: {listed(recipe['egress'])}")
    if "arguments" in recipe:
        parts.append(f"arguments `{' '.join(recipe['arguments'])}`")
    if "variables" in recipe:
        parts.append(f"variables {listed(recipe['variables'])}")
    if "limits" in recipe:
        parts.append(f"limits {listed(f'{name} = {value}' for name, value in recipe['limits'].items())}")
    return "; ".join(parts) or "nothing: it needs nothing"


def is_address(recipe):
    return recipe["package"].startswith("https://")


def page():
    recipes = [tomllib.loads(path.read_text()) for path in (ROOT / "client/cli/add/recipes").glob("*.toml")]
    recipes.sort(key=lambda one: one["package"].lstrip("@"))
    rows = [f"| `{one['package']}` | {given(one)} | {listed(one.get('secrets', []))} |\n"
            for one in recipes if not is_address(one)]
    remote = [f"| `{one['package']}` | {given(one) if len(one) > 1 else 'its own host alone'} |\n"
              for one in recipes if is_address(one)]
    return HEAD + "".join(rows) + REMOTE + "".join(remote)


if __name__ == "__main__":
    print(page(), end="")
