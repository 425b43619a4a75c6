#!/usr/bin/env python3
"""docs/recipes.md, made of the recipes: recipes.py prints it."""

import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEAD = """# Recipes

What [`cellblock add`](add.md) knows of packages of npm. A package without a recipe gets what its line and its options name. Names are compared whole. The
files are in `share/cellblock/recipes`; an administrator may add more there (`@scope+name.toml`: `package`, `paths`, `needs`, `egress`, `secrets`, `variables`,
`arguments`, `profile`, `limits`).

| package | gets | needs `--env` |
|---|---|---|
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
        parts.append(f"needs {recipe['needs']}")
    if "egress" in recipe:
        parts.append(f"network: {listed(recipe['egress'])}")
    if "arguments" in recipe:
        parts.append(f"arguments `{' '.join(recipe['arguments'])}`")
    if "variables" in recipe:
        parts.append(f"variables {listed(recipe['variables'])}")
    if "limits" in recipe:
        parts.append(f"limits {listed(f'{name} = {value}' for name, value in recipe['limits'].items())}")
    return "; ".join(parts) or "nothing: it needs nothing"


def page():
    recipes = [tomllib.loads(path.read_text()) for path in (ROOT / "client/cli/add/recipes").glob("*.toml")]
    rows = [f"| `{one['package']}` | {given(one)} | {listed(one.get('secrets', []))} |\n"
            for one in sorted(recipes, key=lambda one: one["package"].lstrip("@"))]
    return HEAD + "".join(rows)


if __name__ == "__main__":
    print(page(), end="")
